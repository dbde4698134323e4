"""Put the stages in a row: what each command of the command line does.

A module is called after its command. Imports stand at the top of a module. One in a
function has its reason in the comment above it.
"""
