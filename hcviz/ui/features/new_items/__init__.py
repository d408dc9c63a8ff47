"""New items of a second table, placed in the groups and accepted one by one."""
