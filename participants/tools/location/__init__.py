"""get_location: where the user is, as the settings say, or as an address looks up where that was turned on."""
