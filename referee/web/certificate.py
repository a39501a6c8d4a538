"""A certificate that this program makes for itself: browsers give a camera to https only.

Nobody vouches for it, so a browser warns; who wants to be sure compares fingerprints. With ``--tls`` none is made.
"""

import ipaddress
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from referee.files import write_whole

FILE = "phone-certificate.pem"
VALID, RENEWED = timedelta(days=397), timedelta(days=30)
"""Browsers refuse longer ones; a new one is made so long before the end."""


def own_certificate(folder: Path, address: str) -> tuple[Path, str]:
    """The file with certificate and key for that address and this machine itself, readable by its owner alone, and the
    certificate's SHA-256 fingerprint; made when there is none, or none that will do. May raise OSError."""
    path, own = folder / FILE, [_name(a) for a in dict.fromkeys((address, "127.0.0.1"))]
    if not _will_do(path, own):
        write_whole(path, _made(own), 0o600)
    return path, x509.load_pem_x509_certificate(path.read_bytes()).fingerprint(hashes.SHA256()).hex(":").upper()


def _will_do(path: Path, own: list[x509.GeneralName]) -> bool:
    """Whether there is a certificate for these addresses that is valid for a while."""
    with suppress(OSError, ValueError, x509.ExtensionNotFound):
        kept = x509.load_pem_x509_certificate(path.read_bytes())
        names = kept.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        return {*own} <= {*names} and kept.not_valid_after_utc > datetime.now(UTC) + RENEWED
    return False


def _name(address: str) -> x509.GeneralName:
    with suppress(ValueError):
        return x509.IPAddress(ipaddress.ip_address(address))
    return x509.DNSName(address)


def _made(own: list[x509.GeneralName]) -> bytes:
    """A certificate for these addresses and its key (PEM)."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "referee")])
    begins = datetime.now(UTC) - timedelta(days=1)  # a phone's clock may be late
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), begins, begins + VALID)
        .add_extension(x509.SubjectAlternativeName(own), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([x509.ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    return made.public_bytes(pem) + key.private_bytes(pem, form, serialization.NoEncryption())
