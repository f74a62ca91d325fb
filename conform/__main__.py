"""The command: `python -m conform yao|run ...`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from . import authenticated, gmw, tls, wire, yao
from . import program as programs
from .notation import CallError, Disagreement, Gone, Misbehaviour

CLASSES: dict[type[Exception], str] = {
    CallError: "call",
    Disagreement: "disagreement",
    Gone: "network",
    Misbehaviour: "misbehaviour",
}
CLASSES[tls.IdentityError] = "identity"


def read_inputs(program: programs.Program, party: int, paths: list[str]) -> dict[str, list[int]]:
    """The bits of this party's inputs, from files `{"port": value}`."""
    values: dict[str, object] = {}
    for path in paths:
        owner, _, rest = path.rpartition("=")
        if not owner or int(owner) == party:
            values |= json.loads(Path(rest).read_text())
    found = {}
    for port in program.inputs:
        if port.owner == party:
            if port.name not in values:
                raise CallError(f"inputs: expected a value for {port.name!r}, got {sorted(values)}")
            bits = port.type.bits(values[port.name])
            if len(bits) != port.type.width:
                raise CallError(f"input {port.name!r}: expected {port.type.width} bits, got {len(bits)}")
            found[port.name] = bits
    return found


def connect(options: argparse.Namespace) -> dict[int, wire.Channel]:
    """The channel to each peer."""
    if options.command == "gmw":
        return gmw.connect(options.address, options.party, options.session)
    stream: wire.Stream
    if options.identity:
        if not options.peer:
            raise CallError("TLS: expected --peer with --identity, got one without it")
        key, peer = tls.key_of(bytes.fromhex(Path(options.identity).read_text())), tls.from_text(options.peer)
        if options.listen:
            stream = tls.accept(options.listen, key, peer, options.session)
        else:
            stream = tls.connect(options.connect, key, peer, options.session)
    else:
        stream = wire.accept(options.listen) if options.listen else wire.connect(options.connect)
    return {1 - options.party: wire.Channel(stream)}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="conform", description="An independent peer for Garblet.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, parties in (("yao", 2), ("authenticated", 2), ("gmw", 255)):
        one = commands.add_parser(name, help=f"be a party of {name}")
        one.add_argument("--party", type=int, choices=range(parties), required=True, metavar="K")
        if name == "gmw":
            one.add_argument("--address", action="append", required=True, metavar="HOST:PORT", help="of each party")
        else:
            where = one.add_mutually_exclusive_group(required=True)
            where.add_argument("--listen", metavar="HOST:PORT")
            where.add_argument("--connect", metavar="HOST:PORT")
            one.add_argument("--identity", metavar="FILE", help="32 bytes in hexadecimal, for TLS")
            one.add_argument("--peer", metavar="FINGERPRINT", help="the peer's identity, for TLS")
        one.add_argument("--program", required=True, metavar="FILE")
        one.add_argument("--input", action="append", default=[], metavar="[K=]FILE")
        one.add_argument("--param", action="append", default=[], metavar="NAME=VALUE")
        one.add_argument("--session", metavar="NAME")
    cases = commands.add_parser("run", help="be wrong on purpose, and see what the command says")
    cases.add_argument("names", nargs="*", help="only cases whose name contains one of these")
    options = parser.parse_args(arguments)
    if options.command == "run":
        from . import deviations

        return deviations.main(options.names)
    try:
        program = programs.load(options.program)
        inputs = read_inputs(program, options.party, options.input)
        given = dict(pair.split("=", 1) for pair in options.param)
        channels = connect(options)
        try:
            if options.command == "gmw":
                outputs = gmw.run(channels, options.party, program, inputs, given, options.session)
            else:
                run = yao.run if options.command == "yao" else authenticated.run
                outputs = run(channels[1 - options.party], options.party, program, inputs, given, options.session)
        except Exception:
            for channel in channels.values():
                channel.abort()
            raise
    except (CallError, Disagreement, Gone, Misbehaviour, tls.IdentityError) as error:
        print(f"error ({CLASSES[type(error)]}): {error}", file=sys.stderr)
        return 2 if isinstance(error, CallError) else 1
    bits = {name: "".join(map(str, value)) for name, value in outputs.items()}
    sent, received = (sum(getattr(one, name) for one in channels.values()) for name in ("sent", "received"))
    print(json.dumps({"outputs": bits, "bytes_sent": sent, "bytes_received": received}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
