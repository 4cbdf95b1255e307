import pytest

from swarm_bench.config.secret_names import names_secret

SECRET = """
ANTHROPIC_API_KEY AWS_SECRET_ACCESS_KEY AWS_ACCESS_KEY_ID GITHUB_TOKEN HF_TOKEN_2 PGPASSWORD
MYSQL_PWD REDISCLI_AUTH SMTP_PASS GITHUB_PAT NPM_CONFIG__AUTH clientSecret X-Api-Key
Authorization openaiApiKey OPENAI_APIKEY AUTHTOKEN DB_PASSWD GPG_PASSPHRASE SSHPASS
token api-key AZURE_CREDENTIALS SESSION_COOKIE
"""
HARMLESS = """
GIT_AUTHOR_NAME SSH_AUTH_SOCK XAUTHORITY KEYBOARD_LAYOUT TOKENIZERS_PARALLELISM PWD OLDPWD
MONKEY KEYTIMEOUT MAX_TOKENS TOKEN_FILE token-url PASSWORD_STORE_DIR KEY_NAME AUTHOR PATH
SSH_ASKPASS COMPASS max-tokens BYPASS SECRET_ENABLED _ 1
"""


@pytest.mark.parametrize("name", SECRET.split())
def test_names_of_secrets(name: str) -> None:
    assert names_secret(name)


@pytest.mark.parametrize("name", HARMLESS.split())
def test_names_of_something_else(name: str) -> None:
    assert not names_secret(name)
