"""TLS: certificates are read where the variables say, and refused in words."""

from __future__ import annotations

import ssl

import pytest

from ganger import tls
from ganger.tries import Servers


def test_half_a_certificate_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GANGER_CLIENT_CERT", "worker.pem")
    monkeypatch.delenv("GANGER_CLIENT_KEY", raising=False)
    with pytest.raises(ValueError, match="belong together"):
        tls.identity()
    monkeypatch.setenv("GANGER_CLIENT_KEY", "worker.key")
    assert tls.identity() == ("worker.pem", "worker.key")


def test_the_authority_that_is_named_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GANGER_CLIENT_CERT", raising=False)
    monkeypatch.delenv("GANGER_CLIENT_KEY", raising=False)
    monkeypatch.setenv("GANGER_CA", "/nowhere/ca.pem")
    with pytest.raises(FileNotFoundError):
        _ = Servers("https://127.0.0.1:1", None).http
    assert Servers("http://127.0.0.1:1", None).http["verify"] is True, "without TLS nothing is read"
    monkeypatch.delenv("GANGER_CA")
    assert isinstance(Servers("https://127.0.0.1:1", None).http["verify"], ssl.SSLContext)
