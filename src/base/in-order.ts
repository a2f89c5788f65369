/** Returns a function that runs work in the order of the calls, one at a time. A failure does not stop the next. */
export function createInOrder(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
}
