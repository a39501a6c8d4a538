"""The same lines, read by the firmware's parser and writer and by the host's."""

import re
from pathlib import Path

import pytest

from referee.devices.box_protocol import FIELDS, BadMessage, Message, checksum, parse

TEXT = (Path(__file__).parents[2] / "firmware" / "vectors.txt").read_text()
ROWS = re.findall(r"^(good|bad|crc) (.*?)(?:   +# .*)?$", TEXT, re.MULTILINE)
GOOD = [line for kind, line in ROWS if kind == "good"]
BAD = [line for kind, line in ROWS if kind == "bad"]
CRC = [line.split() for kind, line in ROWS if kind == "crc"]


def test_the_file_has_both_kinds_and_every_sentence():
    assert len(ROWS) == len([r for r in TEXT.splitlines() if r and not r.startswith("#")])
    spoken = {(sentence.kind, sentence.protocol) for sentence in (parse(line.encode()) for line in GOOD)}
    assert spoken == {(kind, protocol) for protocol, kinds in FIELDS.items() for kind in kinds}


@pytest.mark.parametrize(("crc", "body"), CRC)
def test_both_sides_compute_the_same_crc(headers, crc, body):
    data = b"" if body == "-" else bytes.fromhex(body)
    assert checksum(data, 2).decode() == crc
    assert headers.tell([f"crc {data.hex()}"]) == [crc]


@pytest.mark.parametrize("line", GOOD)
def test_the_host_reads_and_writes_good_lines(line):
    assert parse(line.encode()).encode() == line.encode() + b"\r\n"


@pytest.mark.parametrize("line", BAD)
def test_the_host_takes_no_bad_line(line):
    with pytest.raises(BadMessage):
        parse(line.encode())


@pytest.mark.parametrize("line", [line for line in GOOD if line.startswith("$RF")])
def test_the_box_takes_good_commands(headers, line):
    assert headers.tell([f"parse {line.encode().hex()}"]) == ["good"]


@pytest.mark.parametrize("line", [*BAD, *(line for line in GOOD if line.startswith("$BX"))])
def test_the_box_takes_nothing_else(headers, line):
    assert headers.tell([f"parse {line.encode().hex()}"]) == ["bad"]


@pytest.mark.parametrize("line", [line for line in GOOD if line.startswith("$BX")])
def test_the_box_writes_what_the_host_reads(headers, line):
    sentence: Message = parse(line.encode())
    words = " ".join(map(str, (sentence.protocol, sentence.kind, sentence.number, *sentence.fields)))
    assert headers.tell([f"write {words}"]) == [line]


README = (Path(__file__).parents[2] / "firmware" / "README.md").read_text()


@pytest.mark.parametrize("kind", sorted(FIELDS[2]))
def test_every_kind_is_described_in_the_readme(kind):
    assert f"| `{kind}` |" in README


def test_the_readmes_examples_are_sentences():
    examples = re.findall(r"\$(?:RF|BX)[A-Z]{3},\S+", README)
    assert len(examples) > 5
    assert [parse(line.encode()).encode().decode().strip() for line in examples] == examples
