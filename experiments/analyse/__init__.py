"""Analysis of games: annotated KIF, page, picture and figures."""
