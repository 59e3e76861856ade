"""`kubectl convoy`: the command line for people. The processes are `convoy`'s own (`workers`)."""
