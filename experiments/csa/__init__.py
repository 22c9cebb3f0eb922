"""Play on a server of the CSA protocol, such as floodgate: connection, games, records."""
