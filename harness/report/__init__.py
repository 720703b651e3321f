"""Shows records and verdicts to people and programs. Pure: reads values, returns text."""
