"""Who answers: people in turns, programs within their budgets, and how often each is wrong."""
