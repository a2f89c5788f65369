/**
 * The units we know, each defined by others until only the bases are left; the definitions are exact, so that an inch is 2.54 cm
 * and nothing else.
 */
export interface UnitRow {
  readonly names: string;
  /** The dimension of a base unit, or what the unit is in other units. */
  readonly is: string;
  /** Which prefixes it takes: all of SI, or those that make sense for data: k, M, G … and Ki, Mi, Gi … */
  readonly prefixes?: "si" | "data";
  /** Where zero of this scale lies on the scale of its base: °C and °F. */
  readonly offset?: string;
}

/** In the order of the exponents of a dimension. */
export const baseDimensions = [
  "length",
  "mass",
  "time",
  "temperature",
  "current",
  "amount",
  "luminous intensity",
  "angle",
  "data",
] as const;

const pi = "3.14159265358979323846264338327950288419716939937510582097494459";

export const unitRows: readonly UnitRow[] = [
  { names: "m meter metre", is: "length", prefixes: "si" },
  { names: "g gram gramme", is: "mass", prefixes: "si" },
  { names: "s sec second", is: "time", prefixes: "si" },
  { names: "K kelvin", is: "temperature", prefixes: "si" },
  { names: "A amp ampere", is: "current", prefixes: "si" },
  { names: "mol mole", is: "amount", prefixes: "si" },
  { names: "cd candela", is: "luminous intensity", prefixes: "si" },
  { names: "rad radian", is: "angle", prefixes: "si" },
  { names: "bit b", is: "data", prefixes: "data" },

  { names: "in inch inches", is: "2.54 cm" },
  { names: "ft foot feet", is: "12 in" },
  { names: "yd yard", is: "3 ft" },
  { names: "mi mile", is: "5280 ft" },
  { names: "nmi nautical_mile", is: "1852 m" },
  { names: "fathom", is: "6 ft" },
  { names: "furlong", is: "220 yd" },
  { names: "mil thou", is: "0.001 in" },
  { names: "pt_length point", is: "1/72*in" },
  { names: "micron", is: "1 um" },
  { names: "Å angstrom ångström", is: "0.1 nm" },
  { names: "au AU astronomical_unit", is: "149597870700 m" },
  { names: "ly light_year lightyear", is: "9460730472580800 m" },
  { names: "pc parsec", is: `648000/${pi}*au`, prefixes: "si" },

  { names: "t tonne metric_ton", is: "1000 kg", prefixes: "si" },
  { names: "lb lbs lbm pound", is: "0.45359237 kg" },
  { names: "oz ounce", is: "1/16*lb" },
  { names: "st stone", is: "14 lb" },
  { names: "ton short_ton us_ton", is: "2000 lb" },
  { names: "long_ton imperial_ton", is: "2240 lb" },
  { names: "ct carat", is: "0.2 g" },
  { names: "gr grain", is: "64.79891 mg" },
  { names: "ozt troy_ounce", is: "480 gr" },
  { names: "slug", is: "lbf*s^2/ft" },
  { names: "u Da dalton amu", is: "1.66053906660e-27 kg" },

  { names: "min minute", is: "60 s" },
  { names: "h hr hrs hour", is: "60 min" },
  { names: "d day", is: "24 h" },
  { names: "wk week", is: "7 d" },
  { names: "fortnight", is: "14 d" },
  { names: "yr year a annum julian_year", is: "365.25 d" },
  { names: "mo month", is: "1/12*yr" },
  { names: "decade", is: "10 yr" },
  { names: "century centuries", is: "100 yr" },

  {
    names: "degC °C celsius centigrade degree_celsius degrees_celsius deg_c",
    is: "K",
    offset: "273.15",
  },
  {
    names: "degF °F fahrenheit degree_fahrenheit degrees_fahrenheit deg_f",
    is: "5/9*K",
    offset: "459.67",
  },
  { names: "degR °R rankine degree_rankine", is: "5/9*K" },
  { names: "delta_degC delta_C ΔC Δ°C delta_celsius celsius_difference", is: "K" },
  { names: "delta_degF delta_F ΔF Δ°F delta_fahrenheit fahrenheit_difference", is: "5/9*K" },

  { names: "ha hectare", is: "10000 m^2" },
  { names: "are", is: "100 m^2" },
  { names: "ac acre", is: "43560 ft^2" },
  { names: "sqm", is: "m^2" },
  { names: "sqkm", is: "km^2" },
  { names: "sqft", is: "ft^2" },
  { names: "sqin", is: "in^2" },
  { names: "sqmi", is: "mi^2" },
  { names: "barn", is: "1e-28 m^2" },

  { names: "L l liter litre", is: "1000 cm^3", prefixes: "si" },
  { names: "cc ccm", is: "cm^3" },
  { names: "gal gallon us_gallon", is: "231 in^3" },
  { names: "qt quart", is: "1/4*gal" },
  { names: "pt pint us_pint", is: "1/8*gal" },
  { names: "cup us_cup", is: "1/16*gal" },
  { names: "floz fl_oz fluid_ounce us_fluid_ounce", is: "1/128*gal" },
  { names: "tbsp tablespoon", is: "1/2*floz" },
  { names: "tsp teaspoon", is: "1/6*floz" },
  { names: "impgal imp_gal imperial_gallon uk_gallon", is: "4.54609 L" },
  { names: "imppt imp_pint imperial_pint uk_pint", is: "1/8*impgal" },
  { names: "impfloz imperial_fluid_ounce uk_fluid_ounce", is: "1/160*impgal" },
  { names: "bbl barrel oil_barrel", is: "42 gal" },
  { names: "bu bushel", is: "2150.42 in^3" },

  { names: "kph kmh kmph", is: "km/h" },
  { names: "mph", is: "mi/h" },
  { names: "fps", is: "ft/s" },
  { names: "kn kt knot", is: "nmi/h" },
  { names: "c speed_of_light lightspeed", is: "299792458 m/s" },
  { names: "mach", is: "340.29 m/s" },
  { names: "gn standard_gravity", is: "9.80665 m/s^2" },
  { names: "Gal", is: "cm/s^2" },

  { names: "N newton", is: "kg*m/s^2", prefixes: "si" },
  { names: "dyn dyne", is: "1e-5 N" },
  { names: "lbf pound_force", is: "lb*gn" },
  { names: "ozf ounce_force", is: "oz*gn" },
  { names: "kgf kp kilogram_force kilopond", is: "kg*gn" },

  { names: "Pa pascal", is: "N/m^2", prefixes: "si" },
  { names: "bar", is: "100000 Pa", prefixes: "si" },
  { names: "atm atmosphere", is: "101325 Pa" },
  { names: "at technical_atmosphere", is: "kgf/cm^2" },
  { names: "torr", is: "101325/760*Pa" },
  { names: "mmHg", is: "133.322387415 Pa" },
  { names: "inHg", is: "25.4 mmHg" },
  { names: "psi", is: "lbf/in^2" },
  { names: "ksi", is: "1000 psi" },

  { names: "J joule", is: "N*m", prefixes: "si" },
  { names: "cal calorie", is: "4.184 J", prefixes: "si" },
  { names: "Cal food_calorie", is: "4184 J" },
  { names: "Wh watt_hour watthour", is: "W*h", prefixes: "si" },
  { names: "eV electronvolt electron_volt", is: "1.602176634e-19 J", prefixes: "si" },
  { names: "BTU Btu british_thermal_unit", is: "1055.05585262 J" },
  { names: "therm", is: "100000 BTU" },
  { names: "erg", is: "1e-7 J" },
  { names: "ftlb ft_lb foot_pound", is: "ft*lbf" },
  { names: "TNT ton_of_tnt", is: "4.184e9 J", prefixes: "si" },

  { names: "W watt", is: "J/s", prefixes: "si" },
  { names: "hp horsepower", is: "550 ft*lbf/s" },
  { names: "PS metric_horsepower", is: "75 kgf*m/s" },
  { names: "VA volt_ampere", is: "W", prefixes: "si" },

  { names: "Hz hertz", is: "1/s", prefixes: "si" },
  { names: "Bq becquerel", is: "1/s", prefixes: "si" },
  { names: "rpm revolution_per_minute", is: "turn/min" },
  { names: "rps revolution_per_second", is: "turn/s" },
  { names: "bpm beats_per_minute", is: "1/min" },

  { names: "deg ° degree", is: "1/360*turn" },
  { names: "turn rev revolution", is: `2*${pi}*rad` },
  { names: "gon grad gradian", is: "1/400*turn" },
  { names: "arcmin arcminute", is: "1/60*deg" },
  { names: "arcsec arcsecond", is: "1/3600*deg", prefixes: "si" },

  { names: "V volt", is: "W/A", prefixes: "si" },
  { names: "ohm Ω", is: "V/A", prefixes: "si" },
  { names: "S siemens", is: "A/V", prefixes: "si" },
  { names: "C coulomb", is: "A*s", prefixes: "si" },
  { names: "F farad", is: "C/V", prefixes: "si" },
  { names: "Ah amp_hour ampere_hour", is: "A*h", prefixes: "si" },
  { names: "H henry", is: "V*s/A", prefixes: "si" },
  { names: "Wb weber", is: "V*s", prefixes: "si" },
  { names: "T tesla", is: "Wb/m^2", prefixes: "si" },
  { names: "gauss", is: "0.0001 T" },
  { names: "lm lumen", is: "cd", prefixes: "si" },
  { names: "lx lux", is: "lm/m^2", prefixes: "si" },
  { names: "Gy gray", is: "J/kg", prefixes: "si" },
  { names: "Sv sievert", is: "J/kg", prefixes: "si" },
  { names: "kat katal", is: "mol/s", prefixes: "si" },
  { names: "P poise", is: "0.1 Pa*s", prefixes: "si" },
  { names: "stokes", is: "cm^2/s", prefixes: "si" },

  { names: "B byte octet", is: "8 bit", prefixes: "data" },
  { names: "nibble", is: "4 bit" },
  { names: "bps", is: "bit/s", prefixes: "data" },
  { names: "Bps", is: "B/s", prefixes: "data" },

  { names: "mpg", is: "mi/gal" },
  { names: "mpg_uk mpg_imp", is: "mi/impgal" },
  { names: "dozen", is: "12" },
  { names: "percent %", is: "1/100" },
  { names: "ppm", is: "1/1000000" },
];

/** Letters that stand alone and have several meanings: the first that fits the other unit is meant. Inside compounds C is the coulomb. */
export const loneMeanings: Readonly<Record<string, readonly string[]>> = {
  C: ["degC", "C"],
  F: ["degF", "F"],
  c: ["degC", "c"],
  f: ["degF"],
  k: ["K"],
};

export type Prefix = readonly [
  symbol: string,
  word: string,
  factor: readonly [base: bigint, power: bigint],
];

export const siPrefixes: readonly Prefix[] = [
  ["Q", "quetta", [10n, 30n]],
  ["R", "ronna", [10n, 27n]],
  ["Y", "yotta", [10n, 24n]],
  ["Z", "zetta", [10n, 21n]],
  ["E", "exa", [10n, 18n]],
  ["P", "peta", [10n, 15n]],
  ["T", "tera", [10n, 12n]],
  ["G", "giga", [10n, 9n]],
  ["M", "mega", [10n, 6n]],
  ["k", "kilo", [10n, 3n]],
  ["h", "hecto", [10n, 2n]],
  ["da", "deca", [10n, 1n]],
  ["d", "deci", [10n, -1n]],
  ["c", "centi", [10n, -2n]],
  ["m", "milli", [10n, -3n]],
  ["µ", "micro", [10n, -6n]],
  ["u", "micro", [10n, -6n]],
  ["n", "nano", [10n, -9n]],
  ["p", "pico", [10n, -12n]],
  ["f", "femto", [10n, -15n]],
  ["a", "atto", [10n, -18n]],
  ["z", "zepto", [10n, -21n]],
  ["y", "yocto", [10n, -24n]],
  ["r", "ronto", [10n, -27n]],
  ["q", "quecto", [10n, -30n]],
];

/** From kilo up. KB is what most people write for kB; 1024 bytes are a KiB. */
export const dataPrefixes: readonly Prefix[] = [
  ...siPrefixes.filter(([, , [, power]]) => power >= 3n),
  ["K", "kilo", [10n, 3n]],
  ["Ki", "kibi", [1024n, 1n]],
  ["Mi", "mebi", [1024n, 2n]],
  ["Gi", "gibi", [1024n, 3n]],
  ["Ti", "tebi", [1024n, 4n]],
  ["Pi", "pebi", [1024n, 5n]],
  ["Ei", "exbi", [1024n, 6n]],
  ["Zi", "zebi", [1024n, 7n]],
  ["Yi", "yobi", [1024n, 8n]],
];

/** Names of compound dimensions, each by a unit that has it. */
export const namedDimensions: readonly (readonly [name: string, unit: string])[] = [
  ["area", "m^2"],
  ["volume", "m^3"],
  ["speed", "m/s"],
  ["acceleration", "m/s^2"],
  ["frequency", "Hz"],
  ["angular speed", "rad/s"],
  ["force", "N"],
  ["pressure", "Pa"],
  ["energy", "J"],
  ["power", "W"],
  ["density", "kg/m^3"],
  ["volume flow", "m^3/s"],
  ["mass flow", "kg/s"],
  ["charge", "C"],
  ["voltage", "V"],
  ["resistance", "ohm"],
  ["conductance", "S"],
  ["capacitance", "F"],
  ["inductance", "H"],
  ["magnetic flux", "Wb"],
  ["magnetic flux density", "T"],
  ["illuminance", "lx"],
  ["dose", "Gy"],
  ["catalytic activity", "kat"],
  ["dynamic viscosity", "Pa*s"],
  ["kinematic viscosity", "m^2/s"],
  ["concentration", "mol/m^3"],
  ["data rate", "bit/s"],
  ["distance per volume", "km/L"],
  ["pace", "s/m"],
];
