"""Contests on shared walls, as the arena's leagues and the server's tournaments play them.

- `seating`: who sits where in the three games on a wall
- `schedule`: which three players meet next, and on which walls
- `estimates`, `observations`: means with their confidence intervals, all games on a wall being one observation
- `ratings`: the ratings of all players, from the orders in which they finished
- `standings`: what is known of each player, and of every two
"""
