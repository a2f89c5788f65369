/** The known units. Every definition is exact, so an inch is 2.54 cm and nothing else. */

export interface UnitRow {
  readonly names: readonly string[];
  /** The dimension of a base unit, else the unit in terms of others. */
  readonly definition: string;
  /** Which prefixes it takes: all of SI, or k, M, G … and Ki, Mi, Gi … for data. */
  readonly prefixes: "si" | "data" | undefined;
  /** Added to a value before scaling: °C and °F. */
  readonly offset: string | undefined;
}

/** In the order of a unit's exponents. */
export const baseDimensions: readonly string[] =
  "length,mass,time,temperature,current,amount,luminous intensity,angle,data".split(",");

const pi = "3.14159265358979323846264338327950288419716939937510582097494459";

/** `names = definition (prefixes) - offset;` */
const unitTable = `
  m, meter, metre = length (si); g, gram, gramme = mass (si); s, sec, second = time (si);
  K, kelvin = temperature (si); A, amp, ampere = current (si); mol, mole = amount (si);
  cd, candela = luminous intensity (si); rad, radian = angle (si); bit, b = data (data);

  in, inch, inches = 2.54 cm; ft, foot, feet = 12 in; yd, yard = 3 ft; mi, mile = 5280 ft;
  nmi, nautical_mile = 1852 m; fathom = 6 ft; furlong = 220 yd; mil, thou = 0.001 in;
  pt_length, point = 1/72*in; micron = 1 um; Å, angstrom, ångström = 0.1 nm;
  au, AU, astronomical_unit = 149597870700 m; ly, light_year, lightyear = 9460730472580800 m;
  pc, parsec = 648000/${pi}*au (si);

  t, tonne, metric_ton = 1000 kg (si); lb, lbs, lbm, pound = 0.45359237 kg; oz, ounce = 1/16*lb;
  st, stone = 14 lb; ton, short_ton, us_ton = 2000 lb; long_ton, imperial_ton = 2240 lb;
  ct, carat = 0.2 g; gr, grain = 64.79891 mg; ozt, troy_ounce = 480 gr; slug = lbf*s^2/ft;
  u, Da, dalton, amu = 1.66053906660e-27 kg;

  min, minute = 60 s; h, hr, hrs, hour = 60 min; d, day = 24 h; wk, week = 7 d; fortnight = 14 d;
  yr, year, a, annum, julian_year = 365.25 d; mo, month = 1/12*yr; decade = 10 yr;
  century, centuries = 100 yr;

  degC, °C, celsius, centigrade, degree_celsius, degrees_celsius, deg_c = K - 273.15;
  degF, °F, fahrenheit, degree_fahrenheit, degrees_fahrenheit, deg_f = 5/9*K - 459.67;
  degR, °R, rankine, degree_rankine = 5/9*K;
  delta_degC, delta_C, ΔC, Δ°C, delta_celsius, celsius_difference = K;
  delta_degF, delta_F, ΔF, Δ°F, delta_fahrenheit, fahrenheit_difference = 5/9*K;

  ha, hectare = 10000 m^2; are = 100 m^2; ac, acre = 43560 ft^2; sqm = m^2; sqkm = km^2;
  sqft = ft^2; sqin = in^2; sqmi = mi^2; barn = 1e-28 m^2;

  L, l, liter, litre = 1000 cm^3 (si); cc, ccm = cm^3; gal, gallon, us_gallon = 231 in^3;
  qt, quart = 1/4*gal; pt, pint, us_pint = 1/8*gal; cup, us_cup = 1/16*gal;
  floz, fl_oz, fluid_ounce, us_fluid_ounce = 1/128*gal; tbsp, tablespoon = 1/2*floz;
  tsp, teaspoon = 1/6*floz; impgal, imp_gal, imperial_gallon, uk_gallon = 4.54609 L;
  imppt, imp_pint, imperial_pint, uk_pint = 1/8*impgal;
  impfloz, imperial_fluid_ounce, uk_fluid_ounce = 1/160*impgal; bbl, barrel, oil_barrel = 42 gal;
  bu, bushel = 2150.42 in^3;

  kph, kmh, kmph = km/h; mph = mi/h; fps = ft/s; kn, kt, knot = nmi/h;
  c, speed_of_light, lightspeed = 299792458 m/s; mach = 340.29 m/s;
  gn, standard_gravity = 9.80665 m/s^2; Gal = cm/s^2;

  N, newton = kg*m/s^2 (si); dyn, dyne = 1e-5 N; lbf, pound_force = lb*gn;
  ozf, ounce_force = oz*gn; kgf, kp, kilogram_force, kilopond = kg*gn;

  Pa, pascal = N/m^2 (si); bar = 100000 Pa (si); atm, atmosphere = 101325 Pa;
  at, technical_atmosphere = kgf/cm^2; torr = 101325/760*Pa; mmHg = 133.322387415 Pa;
  inHg = 25.4 mmHg; psi = lbf/in^2; ksi = 1000 psi;

  J, joule = N*m (si); cal, calorie = 4.184 J (si); Cal, food_calorie = 4184 J;
  Wh, watt_hour, watthour = W*h (si); eV, electronvolt, electron_volt = 1.602176634e-19 J (si);
  BTU, Btu, british_thermal_unit = 1055.05585262 J; therm = 100000 BTU; erg = 1e-7 J;
  ftlb, ft_lb, foot_pound = ft*lbf; TNT, ton_of_tnt = 4.184e9 J (si);

  W, watt = J/s (si); hp, horsepower = 550 ft*lbf/s; PS, metric_horsepower = 75 kgf*m/s;
  VA, volt_ampere = W (si);

  Hz, hertz = 1/s (si); Bq, becquerel = 1/s (si); rpm, revolution_per_minute = turn/min;
  rps, revolution_per_second = turn/s; bpm, beats_per_minute = 1/min;

  deg, °, degree = 1/360*turn; turn, rev, revolution = 2*${pi}*rad;
  gon, grad, gradian = 1/400*turn; arcmin, arcminute = 1/60*deg;
  arcsec, arcsecond = 1/3600*deg (si);

  V, volt = W/A (si); ohm, Ω = V/A (si); S, siemens = A/V (si); C, coulomb = A*s (si);
  F, farad = C/V (si); Ah, amp_hour, ampere_hour = A*h (si); H, henry = V*s/A (si);
  Wb, weber = V*s (si); T, tesla = Wb/m^2 (si); gauss = 0.0001 T; lm, lumen = cd (si);
  lx, lux = lm/m^2 (si); Gy, gray = J/kg (si); Sv, sievert = J/kg (si); kat, katal = mol/s (si);
  P, poise = 0.1 Pa*s (si); stokes = cm^2/s (si);

  B, byte, octet = 8 bit (data); nibble = 4 bit; bps = bit/s (data); Bps = B/s (data);

  mpg = mi/gal; mpg_uk, mpg_imp = mi/impgal; dozen = 12; percent, % = 1/100; ppm = 1/1000000;
`;

const rowPattern =
  /^(?<names>\S.*?) = (?<definition>.+?)(?: \((?<prefixes>\w+)\))?(?: - (?<offset>[\d.]+))?$/;

export const unitRows: readonly UnitRow[] = splitTable(unitTable).map((row) => {
  const { names = "", definition = "", prefixes, offset } = rowPattern.exec(row)?.groups ?? {};
  const known = prefixes === "si" || prefixes === "data" ? prefixes : undefined;
  return { names: names.split(", "), definition, prefixes: known, offset };
});

/** Letters with several meanings when alone: the first that fits the other unit is taken. */
export const loneMeanings: ReadonlyMap<string, readonly string[]> = new Map([
  ["C", ["degC", "C"]],
  ["F", ["degF", "F"]],
  ["c", ["degC", "c"]],
  ["f", ["degF"]],
  ["k", ["K"]],
]);

export interface Prefix {
  readonly symbol: string;
  readonly word: string;
  readonly base: bigint;
  readonly power: bigint;
}

const siTable = `
  Q quetta 30; R ronna 27; Y yotta 24; Z zetta 21; E exa 18; P peta 15; T tera 12; G giga 9;
  M mega 6; k kilo 3; h hecto 2; da deca 1; d deci -1; c centi -2; m milli -3; µ micro -6;
  u micro -6; n nano -9; p pico -12; f femto -15; a atto -18; z zepto -21; y yocto -24;
  r ronto -27; q quecto -30;
`;

export const siPrefixes = readPrefixes(siTable, 10n);

/** From kilo up. KB is the common spelling of kB; 1,024 bytes are a KiB. */
export const dataPrefixes: readonly Prefix[] = [
  ...siPrefixes.filter(({ power }) => power >= 3n),
  ...readPrefixes("K kilo 3", 10n),
  ...readPrefixes(
    "Ki kibi 1; Mi mebi 2; Gi gibi 3; Ti tebi 4; Pi pebi 5; Ei exbi 6; Zi zebi 7; Yi yobi 8",
    1024n,
  ),
];

const dimensionTable = `
  area = m^2; volume = m^3; speed = m/s; acceleration = m/s^2; frequency = Hz;
  angular speed = rad/s; force = N; pressure = Pa; energy = J; power = W; density = kg/m^3;
  volume flow = m^3/s; mass flow = kg/s; charge = C; voltage = V; resistance = ohm;
  conductance = S; capacitance = F; inductance = H; magnetic flux = Wb; magnetic flux density = T;
  illuminance = lx; dose = Gy; catalytic activity = kat; dynamic viscosity = Pa*s;
  kinematic viscosity = m^2/s; concentration = mol/m^3; data rate = bit/s;
  distance per volume = km/L; pace = s/m;
`;

/** Names of compound dimensions, each with a unit that has it. */
export const namedDimensions: readonly { readonly name: string; readonly unit: string }[] =
  splitTable(dimensionTable).map((row) => {
    const [name = "", unit = ""] = row.split(" = ");
    return { name, unit };
  });

function readPrefixes(table: string, base: bigint): readonly Prefix[] {
  return splitTable(table).map((row) => {
    const [symbol = "", word = "", power = "0"] = row.split(" ");
    return { symbol, word, base, power: BigInt(power) };
  });
}

function splitTable(table: string): string[] {
  return table.split(";").flatMap((row) => row.trim() || []);
}
