"""What a user types is kept without its secrets, and otherwise letter by letter."""

import pytest

from harness.errors import InputError
from harness.extender.cassette.command import (
    LEFT_OUT,
    entry_without_secrets,
    require_whole,
    without_logins,
    without_secrets,
    without_secrets_in,
)
from harness.extender.entry import Entry
from harness.extender.subject.parse import parse


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("cmd:python3 x.py --token HUNTER2 {port}", "cmd:python3 x.py --token MARK {port}"),
        ("cmd:x --token -HUNTER2 -v", "cmd:x --token MARK -v"),
        ("cmd:x --token --HUNTER2", "cmd:x --token MARK"),
        ("cmd:x --use-token --dry-run --token -password HUNTER2", "cmd:x --use-token --dry-run --token MARK MARK"),
        ("cmd:x --db-pwd HUNTER2 --pwd=HUNTER2", "cmd:x --db-pwd MARK --pwd=MARK"),
        ("cmd:python3 x.py  --password=HUNTER2 '{port}'", "cmd:python3 x.py  --password=MARK '{port}'"),
        ("cmd:x --password='HUNTER2 HUNTER2'", "cmd:x --password=MARK"),
        ('cmd:x --token "HUNTER2 HUNTER2" -v', "cmd:x --token MARK -v"),
        ("cmd:env API_KEY=HUNTER2 ./x", "cmd:env API_KEY=MARK ./x"),
        ("cmd:docker -e API_KEY=HUNTER2 --env=TOKEN=HUNTER2 x", "cmd:docker -e API_KEY=MARK --env=TOKEN=MARK x"),
        ("cmd:sh -c 'env TOKEN=HUNTER2 x --secret HUNTER2'", "cmd:sh -c 'env TOKEN=MARK x --secret MARK'"),
        # Where the value ends cannot be told, so all of it goes.
        ("cmd:sh -c 'TOKEN=HUNTER2 ./x'", "cmd:sh -c TOKEN=MARK"),
        ("cmd:x -H 'Authorization: Bearer HUNTER2'", "cmd:x -H 'Authorization: MARK'"),
        ("cmd:x '--header=Authorization: Bearer HUNTER2'", "cmd:x '--header=Authorization: MARK'"),
        ("cmd:x --db postgres://me:HUNTER2@db/x", "cmd:x --db postgres://me:MARK@db/x"),
        ("cmd:x --db 'http://db/?password=HUNTER2&mode=ro'", "cmd:x --db 'http://db/?password=MARK&mode=ro'"),
        ("cmd:x --token 'HUNTER2", "cmd:x --token MARK"),
        ("go:./x -- --token HUNTER2", "go:./x -- --token MARK"),
        ("http://user:HUNTER2@127.0.0.1:18765/x", "http://user:MARK@127.0.0.1:18765/x"),
        ("https://user:HUNT@ER2@host/x", "https://user:MARK@host/x"),
        ("ref:lucky?token=HUNTER2&seed=1", "ref:lucky?token=MARK&seed=1"),
    ],
)
def test_secrets_of_a_subject(text: str, kept: str) -> None:
    kept = kept.replace("MARK", LEFT_OUT)
    assert without_secrets(text) == kept
    assert without_secrets(kept) == kept
    assert without_secrets_in(["harness", "run", "--extender", text]) == ["harness", "run", "--extender", kept]
    assert without_secrets_in([f"--extender={text}"]) == [f"--extender={kept}"]


@pytest.mark.parametrize(
    "text",
    [
        "cmd:./token-extender --port {port} --mode 'a  b'",
        "cmd:x --token-file /etc/token --secretName=mine --verbose",
        "cmd:kube-scheduler --authorization-kubeconfig=/etc/kubernetes/scheduler.conf --authorization-kubeconfig a",
        "cmd:x --url http://token-service:8080/filter --peer=secret-store:9000",
        "cmd:",
        "py:my_token:Extender",
        "image:example.com/secret-extender:v1",
        "go:./secrets",
        "http://user@127.0.0.1:80",
        "subject.yaml",
        "",
    ],
)
def test_what_is_no_secret_stays_letter_by_letter(text: str) -> None:
    assert without_secrets(text) == text
    assert without_secrets_in(["harness", "run", "--extender", text]) == ["harness", "run", "--extender", text]


@pytest.mark.parametrize("spelled", ["tlsConfig={keyData: KEY=, x: y}", 'tlsConfig={"keyData":"KEY="}'])
def test_the_key_of_a_certificate_that_was_typed(spelled: str) -> None:
    for words in (["--entry", spelled], [f"--entry={spelled}"]):
        kept = " ".join(without_secrets_in(words))
        assert "KEY=" not in kept
        assert LEFT_OUT in kept


def test_an_entry_is_kept_without_its_key_and_password() -> None:
    tls = {"caFile": "ca.crt", "keyData": "HUNTER2"}
    kept = entry_without_secrets(Entry(url_prefix="https://me:HUNTER2@host", tls=tls))
    assert kept == {"urlPrefix": f"https://me:{LEFT_OUT}@host", "tlsConfig": {"caFile": "ca.crt"}}


def test_addresses_in_any_text() -> None:
    text = 'failed filter with extender at URL http://user:hunter2@h:1/x, code 500; Post "http://h:1/a@b"'
    assert without_logins(text) == text.replace("hunter2", LEFT_OUT)


def test_a_subject_is_told_without_its_secrets_and_started_with_them() -> None:
    subject = parse("cmd:./x --token HUNTER2")
    assert subject.text == f"cmd:./x --token {LEFT_OUT}"
    assert subject.arguments == ("./x", "--token", "HUNTER2")
    address = parse("http://user:HUNTER2@127.0.0.1:80/x")
    assert (address.name, address.target) == ("127.0.0.1:80", "http://user:HUNTER2@127.0.0.1:80/x")
    assert "HUNTER2" not in address.text


def test_what_was_copied_from_a_record_lacks_its_secret() -> None:
    copied = parse("cmd:./x --token HUNTER2").text
    with pytest.raises(InputError, match="stands for a secret that no record keeps; write the secret itself there"):
        parse(copied)
    with pytest.raises(InputError, match="no record keeps"):
        require_whole(copied)
