"""Checks RFC 3161 tokens with a small reader of DER."""

import hashlib
import re
from datetime import datetime, timedelta, timezone

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa


class StampRefused(Exception):
    """Raised for a token that is not valid."""


def demand(condition, message):
    if not condition:
        raise StampRefused(message)


class Der:
    def __init__(self, tag, whole, value):
        self.tag, self.whole, self.value = tag, whole, value
        self.items = read_all(value) if tag & 0x20 else []


def read_all(data):
    items, at = [], 0
    while at < len(data):
        demand(len(data) - at >= 2 and data[at] & 0x1F != 0x1F, "not DER")
        start, length = at + 2, data[at + 1]
        if length >= 0x80:
            digits = data[start : start + (length & 0x7F)]
            start += len(digits)
            length = int.from_bytes(digits, "big")
            demand(digits and digits[0] != 0 and length >= 0x80, "a length that is not DER")
        demand(start + length <= len(data), "cut off")
        items.append(Der(data[at], data[at : start + length], data[start : start + length]))
        at = start + length
    return items


def oid(der):
    demand(der.tag == 0x06, "no identifier")
    first, *more = der.value
    numbers, number = [min(first // 40, 2), first - 40 * min(first // 40, 2)], 0
    for byte in more:
        number = number * 128 + (byte & 0x7F)
        if byte < 0x80:
            numbers.append(number)
            number = 0
    return ".".join(map(str, numbers))


SHA2 = {
    "2.16.840.1.101.3.4.2.1": hashes.SHA256(),
    "2.16.840.1.101.3.4.2.2": hashes.SHA384(),
    "2.16.840.1.101.3.4.2.3": hashes.SHA512(),
}
RSA = "1.2.840.113549.1.1.1"
SIGNATURES = {f"1.2.840.113549.1.1.{10 + n}": SHA2[f"2.16.840.1.101.3.4.2.{n}"] for n in (1, 2, 3)}
SIGNATURES |= {f"1.2.840.10045.4.3.{1 + n}": SHA2[f"2.16.840.1.101.3.4.2.{n}"] for n in (1, 2, 3)}
# Errors for certificates that lack an extension, contain an extension twice, or have a key of an unknown kind.
OF_CERTIFICATES = (x509.ExtensionNotFound, x509.DuplicateExtension, UnsupportedAlgorithm)
TIME_INFO = "1.2.840.113549.1.9.16.1.4"


def check_token(token, text, authorities):
    """Checks a token over a text. Returns the time of the token in milliseconds since 1970. Raises StampRefused."""
    try:
        return _check(token, text, authorities)
    except (IndexError, ValueError, TypeError, KeyError, AttributeError, StopIteration, *OF_CERTIFICATES) as error:
        raise StampRefused(str(error)) from error


def _check(token, text, authorities):
    demand(len(token) <= 2**16, "larger than 64 KB")
    (outer,) = read_all(token)
    kind, holder = outer.items
    demand((outer.tag, holder.tag, oid(kind)) == (0x30, 0xA0, "1.2.840.113549.1.7.2"), "not signed")
    (signed,) = holder.items
    version, digests, content, *more, signers = signed.items
    demand([one.tag for one in signed.items[:3]] == [0x02, 0x31, 0x30] and signers.tag == 0x31, "not signed")
    demand([one.tag for one in more] in ([], [0xA0], [0xA1], [0xA0, 0xA1]), "not signed")
    kind, octets = content.items
    demand(oid(kind) == TIME_INFO and [one.tag for one in octets.items] == [0x04], "not a time")
    info = octets.items[0].value
    moment = _check_info(info, text)
    demand(len(signers.items) == 1, "several signers")
    signer = signers.items[0].items
    sid, digest, attributes, algorithm, signature = signer[1:6]
    tags = [signer[0].tag, digest.tag, attributes.tag, algorithm.tag, signature.tag]
    demand(tags == [0x02, 0x30, 0xA0, 0x30, 0x04], "no signed attributes")
    shown = more[0].items if more and more[0].tag == 0xA0 else []
    demand(len(shown) <= 8, "9 certificates")
    certificates = [one for one in map(_read_certificate, shown) if one]
    certificate = next(one for one in certificates if _is_signer(one, sid))
    hash_name = SHA2[oid(digest.items[0])]
    _check_attributes(attributes.items, info, hash_name, certificate)
    own = oid(algorithm.items[0])
    demand(own == RSA or SIGNATURES[own] is hash_name, "another algorithm")
    data = b"\x31" + attributes.whole[1:]
    demand(_is_signed(certificate.public_key(), signature.value, data, hash_name), "another signature")
    usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage)
    purposes = [one.dotted_string for one in usage.value]
    demand(usage.critical and purposes == ["1.3.6.1.5.5.7.3.8"], "another use")
    demand(_is_valid_at(certificate, moment), "expired")
    if authorities is not None:
        anchors = x509.load_pem_x509_certificates(authorities)
        demand(_leads_to(certificate, certificates, anchors, moment, 0), "another authority")
    return moment


def _read_certificate(der):
    """Returns a certificate, or None if the bytes are none. Only certificates on the path to the authority matter."""
    try:
        return x509.load_der_x509_certificate(der.whole)
    except ValueError:
        return None


def _check_info(info, text):
    (info,) = read_all(info)
    version, _, imprint, _, time, *more = info.items
    kinds = [one.tag for one in more]
    demand([one.tag for one in info.items[:5]] == [0x02, 0x06, 0x30, 0x02, 0x18], "not a TSTInfo")
    demand(kinds == [tag for tag in (0x30, 0x01, 0x02, 0xA0, 0xA1) if tag in kinds], "not a TSTInfo")
    algorithm, digest = imprint.items
    is_ours = oid(algorithm.items[0]) == "2.16.840.1.101.3.4.2.1" and digest.value == hashlib.sha256(text.encode()).digest()
    demand(version.value == b"\x01" and is_ours, "another text")
    match = re.fullmatch(rb"([0-9]{14})(?:\.([0-9]*[1-9]))?Z", time.value)
    demand(match, "another form of time")
    moment = datetime.strptime(match[1].decode(), "%Y%m%d%H%M%S").replace(tzinfo=timezone.utc)
    fraction = (match[2] or b"").decode().ljust(3, "0")[:3]
    return int(moment.timestamp()) * 1000 + int(fraction)


def _is_signer(certificate, sid):
    if sid.tag == 0x30:
        fields = read_all(certificate.tbs_certificate_bytes)[0].items
        fields = fields[1:] if fields[0].tag == 0xA0 else fields
        return sid.value == fields[2].whole + fields[0].whole
    try:
        extension = certificate.extensions.get_extension_for_class(x509.SubjectKeyIdentifier)
    except x509.ExtensionNotFound:
        return False
    return sid.tag == 0x80 and sid.value == extension.value.digest


def _check_attributes(attributes, info, hash_name, certificate):
    known = {}
    for attribute in attributes:
        name, values = attribute.items
        demand(oid(name) not in known and len(values.items) == 1, "an attribute twice")
        known[oid(name)] = values.items[0]
    demand(oid(known["1.2.840.113549.1.9.3"]) == TIME_INFO, "another type")
    demand(known["1.2.840.113549.1.9.4"].value == _digest(hash_name, info), "another time")
    named = False
    for name, default in (("16.2.12", hashes.SHA1()), ("16.2.47", hashes.SHA256())):
        value = known.get("1.2.840.113549.1.9." + name)
        if value is None:
            continue
        named = True
        first, *more = value.items[0].items[0].items
        function = default if first.tag == 0x04 else SHA2[oid(first.items[0])]
        stored = first if first.tag == 0x04 else more[0]
        demand(stored.value == certificate.fingerprint(function), "another certificate")
    demand(named, "no certificate named")


def _digest(function, data):
    digest = hashes.Hash(function)
    digest.update(data)
    return digest.finalize()


def _is_signed(key, signature, data, function):
    try:
        if isinstance(key, rsa.RSAPublicKey):
            key.verify(signature, data, padding.PKCS1v15(), function)
        elif isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(signature, data, ec.ECDSA(function))
        else:
            return False
    except InvalidSignature:
        return False
    return True


def _is_valid_at(certificate, moment):
    time = datetime.fromtimestamp(0, timezone.utc) + timedelta(milliseconds=moment)
    return certificate.not_valid_before_utc <= time <= certificate.not_valid_after_utc


def _extension(certificate, kind):
    try:
        return certificate.extensions.get_extension_for_class(kind).value
    except x509.ExtensionNotFound:
        return None


def _leads_to(certificate, others, anchors, moment, below):
    if not _is_valid_at(certificate, moment) or below > 7:
        return False
    if certificate in anchors:
        return True
    for issuer in [*anchors, *others]:
        limits, usage = _extension(issuer, x509.BasicConstraints), _extension(issuer, x509.KeyUsage)
        may_sign = limits and limits.ca and (usage is None or usage.key_cert_sign)
        if not may_sign or issuer == certificate or (limits.path_length is not None and limits.path_length < below):
            continue
        if issuer.subject != certificate.issuer:
            continue
        data, function = certificate.tbs_certificate_bytes, certificate.signature_hash_algorithm
        if not _is_signed(issuer.public_key(), certificate.signature, data, function):
            continue
        if _leads_to(issuer, others, anchors, moment, below + 1):
            return True
    return False
