/** Known names, and the words that tell what a name is. English and German. */

export const monthNames =
  "January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec|Januar|Jänner|Februar|März|Mai|Juni|Juli|Oktober|Dezember";

export const places = set(`
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

export const organisations = set(`
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
export const organisationWords = set(`
  Inc Inc. Corp Corp. Corporation Ltd Ltd. Limited LLC PLC plc GmbH AG SE KG e.V. S.A. NV Co. Company Group Holding Holdings Partners Ventures Industries Labs Systems Technologies
  Solutions Airlines Airways Bank Insurance University College Institute Academy School Ministry Agency Authority Bureau Commission Committee Council Court Department Foundation
  Association Federation Organization Organisation Union League Party Museum Hospital Orchestra Universität Hochschule Institut Akademie Ministerium Behörde Stiftung Verein Verband
  Gesellschaft Partei Kommission Gericht Krankenhaus Werke Stadtwerke Sparkasse Versicherung
`);

export const placeWords = set(`
  Street Avenue Road Boulevard Lane Square Park River Lake Mountain Mountains Valley Island Islands Bay Beach Bridge Hill Hills Forest Desert Ocean Sea Gulf Canyon County Province
  Airport Station Straße Strasse Platz Allee Weg Gasse Brücke Berg See Insel Wald Hauptbahnhof Flughafen Mount Cape Fort Saint
`);

/** They stand before a person's name and are no part of it. */
export const titles = set(`
  Mr Mr. Mrs Mrs. Ms Ms. Miss Dr Dr. Prof Prof. Professor Sir Dame Lord Lady President Chancellor Minister Senator Governor Mayor Judge Justice Captain General Colonel Major Sergeant
  King Queen Prince Princess Pope Bishop Father Sister Brother Chairman Chairwoman Director Secretary Ambassador Inspector Detective Officer Coach Herr Herrn Frau Doktor Bundeskanzler
  Bundeskanzlerin Bundespräsident Kanzler Kanzlerin Präsident Präsidentin Ministerin Bürgermeister Bürgermeisterin Professorin Richter Richterin König Königin Direktor Direktorin Papst
`);

export const givenNames = set(`
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
export const notNames = set(`
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
