// Why a formula has no answer for a record: thrown inside formulas, given out as a fault.

/** The message says the reason; it does not name the field. */
export class Unanswerable extends Error {}
