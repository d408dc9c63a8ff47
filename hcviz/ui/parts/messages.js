// Throw unless the message and its fields are in the schema, which Python makes from its handlers
// (parts/messages.py).
function checkMessage(schema, act, fields) {
  const wanted = schema?.[act]
  if (!wanted) throw new Error(`There is no message ${act}.`)
  for (const name of Object.keys(fields))
    if (!(name in wanted)) throw new Error(`The message ${act} has no field ${name}.`)
  for (const [name, kind] of Object.entries(wanted)) {
    if (fields[name] === undefined ? kind.endsWith("?") : FITS[kind.replace("?", "")](fields[name]))
      continue
    throw new Error(
      `${name} of the message ${act} must be ${kind}, not ${JSON.stringify(fields[name])}.`,
    )
  }
}

const FITS = {
  "text": value => typeof value === "string",
  "whole number": value => Number.isInteger(value),
  "number": value => Number.isFinite(value),
  "yes or no": value => typeof value === "boolean",
  "whole numbers": value => Array.isArray(value) && value.every(Number.isInteger),
  "anything": () => true,
}
