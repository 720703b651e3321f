"""What kube-scheduler makes of an extender's reply, read as Go reads it: pure."""
