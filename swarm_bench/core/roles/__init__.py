"""Roles of models, of what runs their code, and of what reads figures."""
