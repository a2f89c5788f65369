// Stands in the bundle for packages that are named there and never wanted.
export default undefined;
