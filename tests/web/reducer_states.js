// Follows games: each line of the input is a list of messages, each of the output the states after them.
// node reducer_states.js MODULE, where MODULE is the path of mjai.js.
// Of a state only those keys are written, and of its seats only those, that are not shared with the state before.

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { apply, initial } = await import(pathToFileURL(process.argv[2]).href);

const changes = (before, after) =>
  Object.fromEntries(
    Object.entries(after)
      .filter(([key, value]) => value !== before[key])
      .map(([key, value]) => {
        if (key === "last") return [key, value.type];
        if (key === "seats") return [key, value.map((seat, index) => (seat === before.seats[index] ? null : seat))];
        return [key, value];
      }),
  );

for await (const line of createInterface({ input: process.stdin })) {
  const states = [];
  let error = "";
  let before = { seats: [] };
  let state = initial();
  try {
    for (const message of JSON.parse(line)) {
      state = apply(state, message);
      states.push(changes(before, state));
      before = state;
    }
  } catch (thrown) {
    error = `${thrown.constructor.name}: ${thrown.message}`;
  }
  if (!process.stdout.write(`${JSON.stringify({ states, error })}\n`)) {
    await new Promise((resolve) => process.stdout.once("drain", resolve));
  }
}
