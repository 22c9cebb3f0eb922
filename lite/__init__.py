"""Records in, features, networks whose first layer is linear, their training and their accuracy. Needs torch and cshogi."""
