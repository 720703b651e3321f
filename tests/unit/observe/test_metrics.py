from harness.observe.metrics import QueueDepth, queue_depth

PAGE = """\
# HELP scheduler_pending_pods [STABLE] Number of pending pods, by the queue type.
# TYPE scheduler_pending_pods gauge
scheduler_pending_pods{queue="active"} 1
scheduler_pending_pods{queue="backoff"} 1.2e+01
scheduler_pending_pods{queue="gated"} 0
scheduler_pending_pods{queue="unschedulable"} 3
scheduler_pending_pods_total{queue="active"} 99
"""


def test_the_depth_of_every_queue_is_read() -> None:
    assert queue_depth(PAGE) == QueueDepth(active=1, backoff=12, unschedulable=3, gated=0)


def test_a_queue_that_is_not_mentioned_is_empty_and_an_unknown_one_no_trouble() -> None:
    assert queue_depth("") == QueueDepth(0, 0, 0, 0, told=False)
    assert queue_depth('scheduler_pending_pods{queue="newest"} 5\n') == QueueDepth(0, 0, 0, 0)
