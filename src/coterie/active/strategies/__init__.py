"""Which question to ask next: strategies by name, and what they plan with."""
