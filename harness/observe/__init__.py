"""Sees what happens on a cluster while a run goes on, stamped when it arrives. Changes nothing."""
