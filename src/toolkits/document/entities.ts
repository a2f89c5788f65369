import { isStopword, type Sentence, type TextLanguage } from "./language.ts";
import type { EntityType } from "./text.ts";

const monthNames =
  "January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec|Januar|Jänner|Februar|März|Mai|Juni|Juli|Oktober|Dezember";

export interface Entity {
  readonly type: EntityType;
  readonly text: string;
  readonly count: number;
}

const entitiesMax = 200;

/**
 * By patterns (dates, money, addresses) and by names that a list, a title or a word in them
 * identifies. Other names are left out.
 */
export function findEntities(sentences: readonly Sentence[], language: TextLanguage): Entity[] {
  const found = new Map<string, Entity>();
  const surnames = new Map<string, string>();
  for (const { text } of sentences) {
    for (const mention of entitiesOf(text.slice(0, 5_000), language, surnames)) {
      const key = `${mention.type} ${mention.text}`;
      found.set(key, { ...mention, count: (found.get(key)?.count ?? 0) + 1 });
    }
  }
  return [...found.values()].sort((a, b) => b.count - a.count).slice(0, entitiesMax);
}

type Mention = Omit<Entity, "count">;
type Split = readonly [readonly string[], readonly string[]] | undefined;

const number = String.raw`\d{1,3}(?:[.,' ]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d+)?`;
const scale =
  "(?:thousand|million|billion|trillion|tausend|Millionen|Million|Milliarden|Milliarde|Mio\\.?|Mrd\\.?|k|m|bn)";
const currency = "(?:US\\$|[$€£¥₹]|USD|EUR|GBP|CHF|JPY|CNY)";
const currencyWord =
  "(?:dollars?|euros?|Euro|pounds?|yen|francs?|cents?|Franken|Dollar|Pfund|USD|EUR|GBP|CHF|JPY|€|\\$|£)";

/** Where two overlap, the earlier pattern wins. */
const patterns: readonly (readonly [EntityType, RegExp])[] = [
  ["url", /\bhttps?:\/\/[^\s<>"'）)\]]{1,500}|\bwww\.[a-z0-9-]{1,60}\.[^\s<>"')\]]{1,300}/gi],
  ["email", /[\w.+-]{1,64}@[a-z0-9-]{1,60}(?:\.[a-z0-9-]{1,60}){1,5}/gi],
  ["date", /\b\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?Z?)?\b|\b\d{1,2}[./]\d{1,2}[./]\d{4}\b/g],
  [
    "date",
    new RegExp(
      String.raw`\b\d{1,2}(?:st|nd|rd|th|\.)?\s(?:of\s)?(?:${monthNames})\b\.?(?:,?\s\d{4}\b)?`,
      "g",
    ),
  ],
  [
    "date",
    new RegExp(
      String.raw`\b(?:${monthNames})\.?\s\d{1,2}(?:st|nd|rd|th)?,?\s\d{4}\b|\b(?:${monthNames})\.?\s(?:\d{4}|\d{1,2}(?:st|nd|rd|th)?)\b`,
      "g",
    ),
  ],
  ["date", /\bQ[1-4]\s\d{4}\b/g],
  [
    "money",
    new RegExp(
      String.raw`${currency}\s?(?:${number})(?:\s?${scale}\b)?|\b(?:${number})(?:\s${scale})?\s${currencyWord}(?![\p{L}])`,
      "gu",
    ),
  ],
  [
    "percentage",
    new RegExp(String.raw`[-+]?\b(?:${number})\s?(?:%|percent\b|per cent\b|Prozent\b)`, "g"),
  ],
  [
    "phone",
    /\+\d{1,3}[\s()/.-]{0,2}\d(?:[\s()/.-]{0,2}\d){6,12}|\(\d{3,5}\)\s?\d{3,4}[\s.-]?\d{3,4}|\b\d{3}[.-]\d{3}[.-]\d{4}\b|\b0\d{2,4}[/ -]\d{4,9}\b/g,
  ],
];

function entitiesOf(
  sentence: string,
  language: TextLanguage,
  surnames: Map<string, string>,
): Mention[] {
  const mentions: Mention[] = [];
  let rest = sentence;
  for (const [type, pattern] of patterns) {
    rest = rest.replace(pattern, (match) => {
      const text =
        type === "url" || type === "date" ? match.replace(/[.,;:!?]+$/, "") : match.trim();
      mentions.push({ type, text });
      // Not searched for names, and it separates the words around it.
      return " ; ".padEnd(match.length, " ");
    });
  }
  return [...mentions, ...namesOf(rest, language, surnames)];
}

/** Consecutive capitalised words, with the small words that occur inside names. */
const capitalisedRun =
  /\p{Lu}[\p{L}\p{M}\p{N}'’.-]*(?:\s(?:(?:of|the|for|de|la|del|di|da|van|von|der|den|zu|y|e|bin|ibn|al)\s){0,2}(?:&\s)?(?:\p{Lu}|al-|el-)[\p{L}\p{M}\p{N}'’.-]*)*/gu;

function namesOf(
  sentence: string,
  language: TextLanguage,
  surnames: Map<string, string>,
): Mention[] {
  const mentions: Mention[] = [];
  for (const { 0: match, index } of sentence.matchAll(capitalisedRun)) {
    const words = match
      .split(" ")
      .map((word, at, all) => trimDot(word.replace(/['’]s$/, ""), at < all.length - 1));
    const before = sentence.slice(Math.max(0, index - 30), index);
    mentions.push(
      ...classify(words, {
        isStart: /^[\s"'“„(;-]*$/.test(before) && index < 30,
        before,
        language,
        surnames,
      }),
    );
  }
  return mentions;
}

/** Keeps the dot of "Corp." and "F.", drops the one that ends a sentence. */
function trimDot(word: string, isInside: boolean): string {
  if (!word.endsWith(".")) return word;
  return organisationWords.has(word) || titles.has(word) || (isInside && /^\p{Lu}\.$/u.test(word))
    ? word
    : word.slice(0, -1);
}

interface NameContext {
  readonly isStart: boolean;
  readonly before: string;
  readonly language: TextLanguage;
  readonly surnames: Map<string, string>;
}

/** The names in a run of capitalised words: none, one or two. */
function classify(all: readonly string[], where: NameContext): Mention[] {
  // "However Anna", "The Bank": capitalised only at the start of a sentence.
  const words = dropWhile(all, (word) => isStopword(word.toLowerCase()) || notNames.has(word));
  const [first = ""] = words;
  if (first === "") return [];
  const split = splitTitles(words) ?? splitSmall(words);
  if (split)
    return [...classify(split[0], where), ...classify(split[1], { ...where, isStart: false })];
  if (titles.has(first)) {
    const name = dropWhile(words, (word) => titles.has(word));
    return name.length > 0 ? person(name.slice(0, 4), where) : [];
  }
  const whole = words.join(" ");
  if (organisations.has(whole) || isOrganisation(words))
    return [{ type: "organisation", text: whole }];
  if (places.has(whole) || isPlace(words)) return [{ type: "place", text: whole }];
  if (givenNames.has(first)) return words.length <= 4 ? person(words, where) : [];
  if (words.length === 1) return single(first, where);
  // A known name at one end of an unknown run: "Yesterday Google", "Stadt Hamburg".
  for (let size = words.length - 1; size > 0; size--) {
    const tail = words.slice(-size);
    const name = tail.join(" ");
    if (organisations.has(name)) return [{ type: "organisation", text: name }];
    if (places.has(name)) return [{ type: "place", text: name }];
    if (givenNames.has(tail[0] ?? "") && size > 1 && size <= 3) return person(tail, where);
  }
  const isSpeaker = /\b(?:said|says|by)\s$/.test(where.before) && words.length <= 3;
  return isSpeaker && where.language === "en" ? person(words, where) : [];
}

function single(word: string, { isStart, before, language, surnames }: NameContext): Mention[] {
  const known = surnames.get(word);
  if (known !== undefined) return [{ type: "person", text: known }];
  if (isStart || language === "de") return [];
  // In English, a capital inside a sentence means a name.
  if (/^\p{Lu}{3,6}$/u.test(word) && !notNames.has(word))
    return [{ type: "organisation", text: word }];
  const isPlace = /\bin\s$/.test(before) && /^\p{Lu}\p{Ll}{3,}$/u.test(word);
  return isPlace ? [{ type: "place", text: word }] : [];
}

function person(words: readonly string[], { surnames }: NameContext): Mention[] {
  const text = words.join(" ");
  const surname = words.at(-1);
  if (words.length > 1 && surname !== undefined) surnames.set(surname, text);
  return [{ type: "person", text: (words.length === 1 ? surnames.get(text) : undefined) ?? text }];
}

/** "Microsoft Judge Sarah": a title in the middle begins a second name. */
function splitTitles(words: readonly string[]): Split {
  const at = words.findIndex(
    (word, index) =>
      index > 0 &&
      index < words.length - 1 &&
      titles.has(word) &&
      !titles.has(words[index - 1] ?? ""),
  );
  return at < 0 ? undefined : [words.slice(0, at), words.slice(at)];
}

/** "Helen Okafor of the University": two names, unless the first is of a kind that has an "of". */
function splitSmall(words: readonly string[]): Split {
  const at = words.findIndex((word) => /^(?:of|the|for)$/.test(word));
  if (at < 0 || (words[at] !== "the" && organisationWords.has(words[at - 1] ?? "")))
    return undefined;
  return [words.slice(0, at), words.slice(at)];
}

function isOrganisation(words: readonly string[]): boolean {
  if (words.length < 2) return false;
  const [first = "", second = ""] = words;
  const last = words.at(-1) ?? "";
  if (organisationWords.has(last)) return true;
  if (organisationWords.has(first) && /^(?:of|for|der|für|de)$/.test(second)) return true;
  // "Technische Universität München": an organisation word before a place.
  return places.has(last) && words.some((word) => organisationWords.has(word));
}

function isPlace(words: readonly string[]): boolean {
  if (words.length < 2 || words.length > 4) return false;
  return placeWords.has(words.at(-1) ?? "") || placeWords.has(words[0] ?? "");
}

function dropWhile(
  words: readonly string[],
  isDropped: (word: string) => boolean,
): readonly string[] {
  const start = words.findIndex((word) => !isDropped(word));
  return start < 0 ? [] : words.slice(start);
}

/** Known names, and the words that tell what a name is. English and German. */

const places = set(`
  Afghanistan Albania Algeria Andorra Angola Argentina Armenia Australia Austria Azerbaijan Bahrain Bangladesh Belarus Belgium Belize Benin Bhutan Bolivia Bosnia Botswana Brazil
  Brunei Bulgaria Burundi Cambodia Cameroon Canada Chad Chile China Colombia Congo Croatia Cuba Cyprus Czechia Denmark Ecuador Egypt Eritrea Estonia Ethiopia Fiji Finland France
  Gabon Gambia Georgia Germany Ghana Greece Greenland Guatemala Guinea Haiti Honduras Hungary Iceland India Indonesia Iran Iraq Ireland Israel Italy Jamaica Japan Jordan Kazakhstan
  Kenya Kosovo Kuwait Laos Latvia Lebanon Liberia Libya Liechtenstein Lithuania Luxembourg Madagascar Malawi Malaysia Mali Malta Mauritius Mexico Moldova Monaco Mongolia Montenegro
  Morocco Mozambique Myanmar Namibia Nepal Netherlands Nicaragua Niger Nigeria Norway Oman Pakistan Palestine Panama Paraguay Peru Philippines Poland Portugal Qatar Romania Russia
  Rwanda Senegal Serbia Singapore Slovakia Slovenia Somalia Spain Sudan Sweden Switzerland Syria Taiwan Tanzania Thailand Tibet Togo Tunisia Turkey Uganda Ukraine Uruguay Uzbekistan
  Venezuela Vietnam Yemen Zambia Zimbabwe England Scotland Wales Britain Europe Africa Asia America Antarctica Oceania USA UK UAE Deutschland Österreich Schweiz Frankreich Italien
  Spanien Polen Russland Türkei Griechenland Großbritannien Niederlande Belgien Schweden Norwegen Dänemark Finnland Ungarn Tschechien Kroatien Ägypten Indien Brasilien Europa Afrika
  Asien Amerika Bayern Sachsen Hessen Brandenburg Thüringen Saarland Niedersachsen Alabama Alaska Arizona Arkansas California Colorado Connecticut Delaware Florida Hawaii Idaho
  Illinois Indiana Iowa Kansas Kentucky Louisiana Maine Maryland Massachusetts Michigan Minnesota Mississippi Missouri Montana Nebraska Nevada Ohio Oklahoma Oregon Pennsylvania
  Tennessee Texas Utah Vermont Virginia Wisconsin Wyoming Ontario Quebec Bavaria Catalonia Crimea Siberia Scandinavia Amsterdam Ankara Athens Atlanta Auckland Austin Baghdad Baltimore
  Bangkok Barcelona Basel Beijing Beirut Belfast Belgrade Berlin Bern Birmingham Bogotá Bonn Boston Bratislava Bremen Brisbane Bristol Brussels Bucharest Budapest Cairo Calgary
  Cambridge Canberra Caracas Casablanca Chicago Cologne Copenhagen Dakar Dallas Damascus Delhi Denver Detroit Dhaka Dortmund Dresden Dubai Dublin Düsseldorf Edinburgh Essen
  Florence Frankfurt Freiburg Geneva Genoa Glasgow Göttingen Graz Hamburg Hanoi Hannover Havana Heidelberg Helsinki Hiroshima Houston Innsbruck Islamabad Istanbul Jakarta Jerusalem
  Johannesburg Kabul Karachi Karlsruhe Kassel Kiel Kiev Kyiv Kinshasa Köln Krakow Lagos Lausanne Leeds Leipzig Lima Lisbon Liverpool Ljubljana London Lyon Madrid Mainz Manchester
  Manila Mannheim Marseille Mecca Melbourne Miami Milan Minsk Montreal Moscow Mumbai München Munich Münster Nairobi Naples Newcastle Nice Nürnberg Nuremberg Odessa Osaka Oslo Ottawa
  Oxford Palermo Paris Philadelphia Phoenix Prague Prag Pretoria Reykjavik Riga Riyadh Rome Rom Rotterdam Salzburg Santiago Sarajevo Seattle Seoul Seville Shanghai Sheffield Sofia
  Stockholm Strasbourg Stuttgart Sydney Taipei Tallinn Tehran Tokyo Toronto Toulouse Tripoli Tunis Turin Valencia Vancouver Venice Vienna Vilnius Warsaw Warschau Washington Wien
  Wolfsburg Zagreb Zürich Zurich Danube Donau Elbe Ganges Nile Rhein Rhine Seine Thames Themse Volga Alps Alpen Himalaya Sahara Pacific Atlantic Mediterranean Manhattan Brooklyn
  Hollywood Kreuzberg
  United_States United_Kingdom United_Arab_Emirates New_York New_York_City New_Zealand New_Delhi New_Orleans New_Jersey New_Mexico New_Hampshire South_Africa South_Korea North_Korea
  Saudi_Arabia Sri_Lanka Costa_Rica El_Salvador Puerto_Rico Czech_Republic Ivory_Coast Sierra_Leone Burkina_Faso Hong_Kong Los_Angeles San_Francisco San_Diego Las_Vegas Buenos_Aires
  Rio_de_Janeiro São_Paulo Mexico_City Cape_Town Tel_Aviv Kuala_Lumpur Addis_Ababa North_Carolina South_Carolina North_Dakota South_Dakota West_Virginia Rhode_Island Silicon_Valley
  Middle_East Latin_America North_America South_America Northern_Ireland Baden-Württemberg Nordrhein-Westfalen Rheinland-Pfalz Sachsen-Anhalt Schleswig-Holstein Mecklenburg-Vorpommern
`);

const organisations = set(`
  Adobe Airbus Alibaba Allianz Alphabet Amazon Anthropic Apple AstraZeneca Bayer BASF Bloomberg BMW Boeing Bosch BBC CERN CIA Cisco CNN Continental Daimler Dell Disney eBay Ericsson ESA
  EU Facebook FBI FDA FIFA Fujitsu Google Greenpeace Honda HSBC Huawei Hyundai IBM IKEA IMF Intel Interpol Lenovo Lufthansa Meta Microsoft Mozilla NASA NATO Nestlé Netflix Nike
  Nintendo Nokia Novartis NVIDIA OECD OPEC OpenAI Oracle Panasonic Pfizer Philips Porsche Reuters Roche Samsung SAP Siemens Sony SpaceX Spotify Starbucks Tencent Tesla Toshiba Toyota
  Twitter UBS UN UNESCO UNHCR UNICEF Unilever Verizon Visa Volkswagen Volvo Vodafone Walmart WHO WTO Yahoo YouTube Bundestag Bundesrat Bundeswehr Bundesbank Telekom Commerzbank Congress
  Parliament Pentagon Senate Kremlin SPD CDU CSU FDP AfD ADAC ARD ZDF Caritas Diakonie
  United_Nations European_Union European_Commission European_Parliament European_Central_Bank World_Bank Red_Cross White_House Supreme_Court World_Health_Organization
  World_Trade_Organization Amnesty_International New_York_Times Washington_Post Deutsche_Bahn Deutsche_Bank Deutsche_Telekom Rotes_Kreuz Bundesverfassungsgericht Europäische_Union
  Europäische_Kommission Associated_Press Federal_Reserve
`);

/** The last word of a name, or the one before "of". */
const organisationWords = set(`
  Inc Inc. Corp Corp. Corporation Ltd Ltd. Limited LLC PLC plc GmbH AG SE KG e.V. S.A. NV Co. Company Group Holding Holdings Partners Ventures Industries Labs Systems Technologies
  Solutions Airlines Airways Bank Insurance University College Institute Academy School Ministry Agency Authority Bureau Commission Committee Council Court Department Foundation
  Association Federation Organization Organisation Union League Party Museum Hospital Orchestra Universität Hochschule Institut Akademie Ministerium Behörde Stiftung Verein Verband
  Gesellschaft Partei Kommission Gericht Krankenhaus Werke Stadtwerke Sparkasse Versicherung
`);

const placeWords = set(`
  Street Avenue Road Boulevard Lane Square Park River Lake Mountain Mountains Valley Island Islands Bay Beach Bridge Hill Hills Forest Desert Ocean Sea Gulf Canyon County Province
  Airport Station Straße Strasse Platz Allee Weg Gasse Brücke Berg See Insel Wald Hauptbahnhof Flughafen Mount Cape Fort Saint
`);

/** They stand before a person's name and are no part of it. */
const titles = set(`
  Mr Mr. Mrs Mrs. Ms Ms. Miss Dr Dr. Prof Prof. Professor Sir Dame Lord Lady President Chancellor Minister Senator Governor Mayor Judge Justice Captain General Colonel Major Sergeant
  King Queen Prince Princess Pope Bishop Father Sister Brother Chairman Chairwoman Director Secretary Ambassador Inspector Detective Officer Coach Herr Herrn Frau Doktor Bundeskanzler
  Bundeskanzlerin Bundespräsident Kanzler Kanzlerin Präsident Präsidentin Ministerin Bürgermeister Bürgermeisterin Professorin Richter Richterin König Königin Direktor Direktorin Papst
`);

const givenNames = set(`
  Aaron Abdul Adam Adrian Ahmed Aisha Alan Albert Alessandro Alex Alexander Alexandra Alfred Ali Alice Alicia Amanda Amelia Amina Amy Ana Anders Andrea Andreas Andrew Angela Anita Ann Anna
  Anne Annette Anthony Antonio Arjun Arthur Astrid Barbara Beatrice Ben Benjamin Bernard Bernd Bettina Bill Birgit Bob Brian Bruno Carl Carla Carlos Carmen Caroline Catherine Cathy
  Cecilia Charles Charlotte Chen Chloe Chris Christian Christina Christine Christoph Christopher Claire Clara Claudia Claus Clemens Daniel Daniela Dave David Deborah Dennis Diana Diego
  Dieter Dirk Dmitri Donald Dorothy Edward Elena Eleanor Elias Elisabeth Elizabeth Ella Ellen Emil Emily Emma Emmanuel Eric Erik Ernst Esther Eva Evelyn Fatima Felix Fernando Fiona
  Florian Frances Francesca Francis Francisco Frank Franz Fred Frederick Friedrich Gabriel Gabriele Geoffrey George Gerald Gerhard Giovanni Giulia Gloria Grace Greta Gustav Hannah Hans
  Harold Harry Hassan Heidi Heike Heinrich Heinz Helen Helena Helga Helmut Henri Henrik Henry Hugo Ian Ibrahim Ines Ingrid Irene Isaac Isabel Isabella Ivan Jack Jacob James Jan Jana Jane
  Janet Jason Javier Jean Jennifer Jens Jessica Jill Jim Joachim Joan Joe Johan Johann Johannes John Jonas Jonathan Jorge José Jose Joseph Juan Judith Julia Julian Julie Jürgen Karen Karin
  Karl Kate Katharina Katherine Kathrin Kenji Kevin Khalid Klaus Kristina Lars Laura Lea Lena Leo Leon Leonard Li Linda Lisa Louis Louise Luca Lucas Lucia Lucy Luis Luke Maja Manfred
  Manuel Marco Marcus Margaret Maria Marie Marina Mario Mark Markus Marta Martha Martin Martina Mary Mateo Matthew Matthias Max Maximilian Megan Mehmet Mei Melanie Michael Michaela Michelle
  Miguel Mike Miriam Mohammed Monica Monika Muhammad Nadia Nancy Natalie Natasha Nathan Neil Nicholas Nicolas Nicole Nina Noah Nora Olaf Oliver Olivia Omar Oscar Otto Pablo Patricia Patrick
  Paul Paula Pedro Peter Petra Philip Philipp Pierre Priya Rachel Rahul Rainer Ralf Raj Ray Rebecca Renate Richard Rita Robert Roberto Roger Roland Rosa Rose Ruth Ryan Sabine Sally
  Samantha Samir Samuel Sandra Sara Sarah Scott Sebastian Sergei Simon Simone Sofia Sophia Sophie Stefan Stefanie Stephanie Stephen Steve Steven Susan Susanne Sven Sylvia Tanja Tatiana
  Teresa Theo Theodor Theresa Thomas Tim Tina Tobias Tom Tony Ulrich Ulrike Ursula Uwe Valentina Vera Veronica Victor Victoria Vincent Vladimir Walter Wei Werner William Wolfgang Yasmin
  Yuki Yusuf Zoe
`);

/** Capitalised words that are not names. */
const notNames = set(`
  I A API CEO CFO CTO PDF HTML HTTP JSON XML CSV SQL URL CPU GPU RAM GDP VAT FAQ DVD TV PC ID OK AM PM Q1 Q2 Q3 Q4 AI IT PR HR BIP MwSt Monday Tuesday Wednesday Thursday Friday
  Saturday Sunday Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag English German French Spanish Italian Chinese Japanese Russian Christmas Easter Internet
`);

function set(text: string): ReadonlySet<string> {
  return new Set(
    text
      .trim()
      .split(/\s+/)
      .map((name) => name.replaceAll("_", " ")),
  );
}
