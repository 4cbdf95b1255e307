"""The sentences that tell a result, for all commands: an arm beside its reference."""
