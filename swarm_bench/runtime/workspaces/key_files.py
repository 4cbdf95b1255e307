"""Which files hold keys, by their names, and so stay where they are."""

from fnmatch import fnmatchcase
from pathlib import PurePath

ENVIRONMENTS = (".env", ".env.local")
"""Omitted even if they are committed, when uncommitted changes are copied: keys are
written into them afterwards."""
FOLDERS = (".ssh", ".gnupg", ".aws", ".azure", ".kube", ".password-store")
"""All that lies in them."""
FILES = (
    *(".env", ".env.*", ".envrc", "id_rsa", "id_dsa", "id_ecdsa*", "id_ed25519*", "*_rsa"),
    *("*_ed25519", "*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.pkcs12", "*.ppk", "*.jks"),
    *("*.keystore", "*.keychain", "*.kdb", "*.kdbx", "*.agilekeychain", "*.ovpn"),
    *(".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".htpasswd", ".s3cfg"),
    *(".boto", ".dockercfg", ".docker/config.json", ".git-credentials", ".terraformrc"),
    *("terraform.rc", "*.tfstate", "*.tfstate.*", "*.tfvars", "*.tfvars.json", "kubeconfig"),
    *("*.kubeconfig", ".vault-token", ".vault_pass*", "*.publishsettings", "credentials"),
    *("credentials.json", "credentials.toml", "secrets.json", "secrets.toml", "secrets.y*ml"),
    *("*service*account*.json", "*firebase-adminsdk*.json", "client_secret*.json"),
)
"""Patterns; one with a `/` is about the folder too. GitHub's and gitleaks' lists have most."""
SAMPLES = (".env.example", ".env.sample", ".env.template", ".env.dist", ".env.defaults", "*.pub")


def holds_keys(path: str, *, committed: bool) -> bool:
    """Tell whether a file, by its path below the root, is omitted for its name."""
    *folders, name = PurePath(path.lower()).parts
    if committed:
        return name in ENVIRONMENTS
    if not set(FOLDERS).isdisjoint(folders):
        return True
    with_folder = "/".join([*folders[-1:], name])
    return not _fits(name, SAMPLES) and (_fits(name, FILES) or _fits(with_folder, FILES))


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
