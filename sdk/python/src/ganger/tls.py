"""TLS: whose certificates are believed (``GANGER_CA``), and which one is shown (``GANGER_CLIENT_CERT`` and its key)."""

from __future__ import annotations

import os
import ssl

import grpc


def authority() -> str | None:
    """The file of the authorities that vouch for servers; those of the system if none is named."""
    return os.environ.get("GANGER_CA") or None


def identity() -> tuple[str, str] | None:
    """The files of this program's own certificate and of its key."""
    certificate, key = os.environ.get("GANGER_CLIENT_CERT"), os.environ.get("GANGER_CLIENT_KEY")
    if not certificate and not key:
        return None
    if not certificate or not key:
        raise ValueError("GANGER_CLIENT_CERT and GANGER_CLIENT_KEY belong together, and one is missing")
    return certificate, key


def context() -> ssl.SSLContext:
    """How requests are secured."""
    made = ssl.create_default_context(cafile=authority())
    shown = identity()
    if shown is not None:
        made.load_cert_chain(*shown)
    return made


def credentials() -> grpc.ChannelCredentials:
    """How the connection of a worker is secured."""
    ca, shown = authority(), identity()
    certificate, key = shown if shown is not None else (None, None)
    return grpc.ssl_channel_credentials(_read(ca), _read(key), _read(certificate))


def _read(path: str | None) -> bytes | None:
    if path is None:
        return None
    with open(path, "rb") as file:
        return file.read()
