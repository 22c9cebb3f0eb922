"""Records in, features, networks whose first layer is linear, their training and accuracy. Needs torch and cshogi."""
