// decide: a whole history and a command in; a batch of version 5, or a rejection (RUN-006, RUN-009, VER-006).
import { apply, turnTo } from './apply.mjs';
import { firstEvent, rejection } from './commands.mjs';
import { owed } from './consequences.mjs';
import { contentHash } from './specification.mjs';
import { reduceEvent } from './reduce.mjs';

const VERSION = 5;

export function decide(state, command) {
  if (state) turnTo(state, VERSION);
  const no = rejection(state, command);
  if (no) return { allowed: false, ...no };
  const events = [];
  let next;
  if (command.type === 'CreateRun') {
    const { run_id, specification, input = {}, ancestors = [] } = command;
    const hash = contentHash(specification);
    events.push({ type: 'RunCreated', run_id, specification: { ...specification, content_hash: hash }, content_hash: hash, input, ancestors });
    state = reduceEvent(null, VERSION, events[0]);
    next = owed(state);
  } else {
    next = firstEvent(state, command, VERSION);
  }
  for (; next; next = owed(state)) {
    events.push(next);
    apply(state, { ...next, recorded_version: VERSION });
  }
  return { allowed: true, version: VERSION, events };
}
