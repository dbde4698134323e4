"""Put the stages in a row: what each command of the command line does.

A module is called after its command. Other stages than launch and prediction are
imported where they are used, so that errors in the command's words come at once.
"""
