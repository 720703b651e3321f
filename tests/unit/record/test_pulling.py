"""What kubelets of several releases really say about images that do not come."""

import pytest

from harness.record.pulling import PullTrouble, in_status, more_telling, trouble

NGINX = "docker.io/library/nginx:1.27"
NO_HOST = (
    f'failed to pull and unpack image "{NGINX}": failed to resolve reference "{NGINX}": failed to do request: '
    'Head "https://registry-1.docker.io/v2/library/nginx/manifests/1.27": dial tcp: lookup registry-1.docker.io on '
    "127.0.0.11:53: no such host"
)


def says(cause: str, image: str = NGINX) -> str:
    return f'Failed to pull image "{image}": rpc error: code = Unknown desc = failed to resolve reference: {cause}'


@pytest.mark.parametrize(
    ("cause", "word"),
    [
        ("dial tcp: lookup r.example on 10.96.0.10:53: read udp 10.0.0.2:4->10.96.0.10:53: i/o timeout", "unknown"),
        ("dial tcp: lookup r.example: Temporary failure in name resolution", "unknown"),
        ("dial tcp 10.1.2.3:443: i/o timeout", "timeout"),
        ("net/http: TLS handshake timeout", "timeout"),
        ("context deadline exceeded", "timeout"),
        ("dial tcp 10.1.2.3:443: connect: connection refused", "cannot be reached"),
        ("tls: failed to verify certificate: x509: certificate signed by unknown authority", "not trusted"),
        ("http: server gave HTTP response to HTTPS client", "speaks http"),
        ("unexpected status from HEAD request to https://r/v2/x: 429 Too Many Requests", "429"),
        ("toomanyrequests: You have reached your pull rate limit", "429"),
        ("failed to authorize: failed to fetch anonymous token: 401 Unauthorized", "unauthorized"),
        ("pull access denied, repository does not exist or may require authorization", "unauthorized"),
        (f"{NGINX}: not found", "not found"),
        ("manifest unknown", "not found"),
        ("no match for platform in manifest: not found", "architecture"),
        ("write /var/lib/x: no space left on device", "disk is full"),
        ("unexpected status: 503 Service Unavailable", "out of order"),
        ("something nobody has seen", "cannot be pulled"),
    ],
)
def test_the_cause_is_named_in_a_word(cause: str, word: str) -> None:
    found = trouble(says(cause))
    assert found is not None
    assert word in found.problem
    assert found.image == NGINX


def test_the_sentence_has_the_image_the_registry_the_cause_and_three_ways_out() -> None:
    found = trouble(f"ErrImagePull: image nginx:1.27: {NO_HOST}")
    assert found is not None
    assert found.sentence(cluster="mine") == (
        "image nginx:1.27 from docker.io: the registry's name is unknown here. Ways out: "
        "preload it: kind load docker-image nginx:1.27 --name mine; "
        "a mirror of docker.io: containerd's hosts.toml on the nodes, or containerdConfigPatches in the file of "
        "--kind-config; a node image that carries it: --kind-image IMAGE"
    )
    assert "kind load" not in found.sentence("existing")
    assert "ctr -n k8s.io images import" in found.sentence("existing")


@pytest.mark.parametrize(
    ("image", "registry"),
    [
        ("nginx", "docker.io"),
        ("team/nginx:1", "docker.io"),
        ("registry.k8s.io/pause:3.9", "registry.k8s.io"),
        ("localhost/x", "localhost"),
        ("reg:5000/x", "reg:5000"),
    ],
)
def test_the_registry_is_told_by_the_images_name(image: str, registry: str) -> None:
    assert PullTrouble(image, "x").registry == registry


def test_whoever_was_asked_in_its_place_is_named() -> None:
    found = trouble(says('Head "https://mirror.example:5000/v2/x": connection refused', "nginx:1"))
    assert found is not None
    assert found.what() == "image nginx:1 from docker.io (asked: mirror.example:5000): the registry cannot be reached"


@pytest.mark.parametrize(("image", "told"), [("x", True), ("x:latest", True), ("x:1", False), ("x@sha256:0", False)])
def test_preloading_alone_does_not_help_an_image_that_is_always_pulled(image: str, told: bool) -> None:
    assert ("IfNotPresent" in PullTrouble(image, "x").ways_out()[0]) is told


def test_a_name_that_is_none_has_one_way_out() -> None:
    said = 'Failed to apply default image tag "Nginx:x y": couldn\'t parse image name "Nginx:x y": invalid reference'
    waits = f"InvalidImageName: image Nginx:x y: {said} format"
    for text in (waits, f"InvalidImageName: {said} format", f"{said} format: repository name must be lowercase"):
        found = trouble(text)
        assert found is not None
        assert found.image == "Nginx:x y"
        assert found.sentence().endswith(
            "Way out: write its name as [HOST/]NAME[:TAG], in small letters and without blanks"
        )


def test_an_image_that_is_never_pulled() -> None:
    found = trouble('Container image "mine:1" is not present with pull policy of Never')
    assert found == PullTrouble("mine:1", "is not on the node, and imagePullPolicy is Never")
    assert "mirror" not in found.sentence()
    assert "IfNotPresent" in found.ways_out()[1]


@pytest.mark.parametrize("image", ["team/not-found:404", "r.example/denied:429", "e"])
def test_words_of_the_images_own_name_are_no_cause(image: str) -> None:
    found = trouble(f'ErrImagePull: image {image}: Back-off pulling image "{image}"; {image}: i/o timeout')
    assert found is not None
    assert "timeout" in found.problem


@pytest.mark.parametrize("text", ["CrashLoopBackOff: back-off 5m0s restarting", "", "Error: ErrImagePull", "0/3 nodes"])
def test_other_words_are_about_no_image(text: str) -> None:
    assert trouble(text) is None


def test_a_pods_status_names_the_container_that_waits() -> None:
    waiting = {"reason": "ErrImagePull", "message": NO_HOST}
    status = {
        "initContainerStatuses": [{"image": "init:1", "state": {"terminated": {}}}],
        "containerStatuses": [
            {"image": "ok:1", "state": {"running": {}}},
            {"image": "nginx:1.27", "state": {"waiting": waiting}},
        ],
    }
    found = in_status(status)
    assert found is not None
    assert (found.image, found.problem) == ("nginx:1.27", "the registry's name is unknown here")
    assert in_status({"containerStatuses": [{"state": {"waiting": {"reason": "ContainerCreating"}}}]}) is None
    assert in_status({}) is None


def test_a_cause_outlives_the_back_off_that_tells_none() -> None:
    cause = trouble(f"ErrImagePull: image nginx:1.27: {NO_HOST}")
    later = trouble('ImagePullBackOff: image nginx:1.27: Back-off pulling image "nginx:1.27"')
    other = trouble("ErrImagePull: image db:1: db:1: not found")
    assert more_telling(None, cause) == cause
    assert more_telling(cause, None) == cause
    assert more_telling(cause, later) == cause
    assert more_telling(later, cause) == cause
    assert more_telling(cause, other) == other
