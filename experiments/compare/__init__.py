"""Networks side by side: trained alike, over several seeds, and measured."""
