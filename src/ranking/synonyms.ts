// Everyday words that mean the same. Training pushes tools apart, and with them such pairs.

import { wordsOf } from "./words.ts";

/** Each line lists words that mean the same in a task and in a tool. */
const lines = `
folder directory dir
node entity
ticket issue
cost price
picture image photo
film movie
mail email
message chat dm
remove delete erase drop
rename move
duplicate copy clone
relocate transfer move
make create new
modify edit update change alter
locate find search
look search find
show display view
buy purchase order
sell sale
repository repo
pr pull merge
document doc file
spreadsheet sheet excel workbook
slide presentation powerpoint deck
meeting event appointment
calendar schedule agenda
reminder todo task
customer client contact
staff employee
invoice bill
job position vacancy
picture screenshot
site website page
webpage page url
link url
scrape crawl extract
browse navigate visit
answer reply respond
begin start launch
end stop terminate kill
run execute
pause suspend
quick fast
error bug exception failure
log trace
test check verify validate
compare diff difference
count number amount
average mean
total sum
maximum highest largest biggest
minimum lowest smallest
rise increase
fall decrease
exchange convert
currency money
stock share equity ticker
crypto cryptocurrency coin
weather forecast climate
rain precipitation
warm temperature heat
route direction navigation
address location place
near nearby around
city town
restaurant dining
hotel accommodation lodging
flight plane airline
trip travel journey
song track music
singer artist band
clip video
caption subtitle transcript
speech voice audio
text content
summary summarize overview
translate translation language
dictionary definition meaning
author writer
book publication
paper article publication
study research
news headline
trend trending popular hot
post tweet publish
follower subscriber
friend contact
user account member
permission access role
password credential secret
server host machine
container docker
cluster kubernetes
pod container
table relation
row record entry
column field
database db
query sql
list enumerate
first head top
last tail end
person people
drug medicine medication
illness disease condition
doctor physician
recipe cook
meal dish food
grade score
student pupil
lesson course class
game match
player athlete
team club
goal objective
house home property
light lamp
car vehicle auto
tire tyre
fuel gas
lock secure
connect link attach
upload push
download fetch pull
save store keep
load open read
inspect examine
type kind category
label tag
comment remark note
note memo
memory remember recall
diagram chart graph plot
draw sketch
color colour
size dimension
zip compress archive
unzip extract decompress
`;

const synonyms = new Map<string, Set<string>>();
for (const line of lines.trim().split("\n")) {
  const stems = [...new Set(wordsOf(line))];
  for (const stem of stems) {
    const known = synonyms.get(stem) ?? new Set<string>();
    for (const other of stems) if (other !== stem) known.add(other);
    synonyms.set(stem, known);
  }
}

/** The stems that mean the same as this one. */
export const synonymsOf = (stem: string): ReadonlySet<string> => synonyms.get(stem) ?? none;
const none: ReadonlySet<string> = new Set();
