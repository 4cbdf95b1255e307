"""Roles of models and of what runs their code."""
