/** Makes a way to do things one behind the other, in the order they were asked for. One that fails does not keep the next from its turn. */
export function createInOrder(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
}
