"""Class mode: students answer in their own tabs, and the teacher's page collects their answers."""
