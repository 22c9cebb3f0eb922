"""Long work: independent jobs on many cores or machines, and folders of results that survive a kill."""
