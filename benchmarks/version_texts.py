"""Texts of ``versions.py``: versions of one document in several languages, and what is none."""

import html
import io
import zipfile
from dataclasses import dataclass

_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/'
    'content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
    'relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.'
    'openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
    'relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/'
    '2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>'
)
_BODY = (
    '<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/'
    '2006/main"><w:body>{}</w:body></w:document>'
)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two files, the older one first, and a question to which their sentences answer."""

    older: str
    newer: str
    question: str
    first: str
    values: tuple[str, str]

    @property
    def second(self) -> str:
        """The text of the newer file."""
        assert self.first.count(self.values[0]) == 1, self.first
        return self.first.replace(*self.values)


TEXTS = (
    Pair("hafen/tarif_v1.md", "hafen/tarif_v2.md", "Was kostet ein Liegeplatz für Gäste?",
         "# Hafentarif\n\n## Gäste\n\nEin Liegeplatz für Gäste kostet 40 Euro je Nacht. Strom ist "
         "im Preis enthalten.\n\n## Dauerlieger\n\nDauerlieger zahlen am Anfang des Jahres.\n",
         ("40", "45")),
    Pair("hafen/Ordnung Entwurf.docx", "hafen/Ordnung Endfassung.docx",
         "Wer ist für die Schleuse verantwortlich?",
         "Hafenordnung\n\nFür die Schleuse ist an allen Tagen Frau Brandt verantwortlich. "
         "Nachts bleibt sie geschlossen.", ("Brandt", "Lehmann")),
    Pair("club/reglas 2023.md", "club/reglas 2024.md", "¿Cuándo cierra la piscina?",
         "# Reglas\n\nLa piscina cierra a las 21 en verano. Los niños entran con un adulto. Se "
         "prohíbe correr. Los perros no entran. El bar abre por la tarde. Las duchas son gratis.\n",
         ("21", "22")),
    Pair("sede/regolamento.txt", "sede/regolamento (1).txt", "Quanto costa la tessera annuale?",
         "La tessera annuale costa 35 euro per i soci. La sala si prenota per telefono.",
         ("35", "38")),
    Pair("kantoor/reisbeleid versie 1.html", "kantoor/reisbeleid versie 2.html",
         "Binnen hoeveel dagen moeten bonnen worden ingeleverd?",
         "Bonnen moeten binnen 30 dagen na de reis worden ingeleverd. Een taxi mag na tien uur.",
         ("30", "14")),
    Pair("escola/manual_rev1.txt", "escola/manual_rev2.txt", "Quantos alunos tem cada turma?",
         "Cada turma da escola tem no máximo 24 alunos por professor. As aulas começam às oito.",
         ("24", "28")),
    Pair("skola/regler gammal 2020-01-01.txt", "skola/regler gammal 2022-01-01.txt",
         "Hur många veckor är sommarlovet?",
         "Sommarlovet är 10 veckor för alla elever. Skolan börjar klockan åtta. Maten är gratis. "
         "Bussen går varje timme. Biblioteket stänger klockan fyra. Idrott är obligatorisk.",
         ("10", "11")),
    Pair("mairie/tarif.csv", "mairie/tarif - copie.csv", "Quel est le prix de la grande salle ?",
         "salle,places,prix\ngrande salle,120,350\npetite salle,40,90\nterrasse,60,150\n",
         ("350", "380")),
    Pair("office/price list v1.csv", "office/price list v2.csv", "What is the price of a locker?",
         "item,unit,price\nlocker,month,12\ndesk,month,95\nparking,month,60\n", ("12", "15")),
    Pair("office/travel policy draft.docx", "office/travel policy final.docx",
         "What may a hotel night cost?",
         "Travel policy\n\nA hotel night may cost up to $180 including breakfast. Book early.",
         ("180", "210")),
    Pair("office/contract 2024-05-02.md", "office/contract 2024-09-30.md",
         "When does the lease of the workshop end?",
         "# Lease of the workshop\n\nThe lease of the workshop ends on 31 March 2027 without "
         "notice. The rent is due each month. The tenant pays for water. The tenant insures it. "
         "The owner mends the roof. Keys are given back.\n", ("31 March 2027", "30 June 2028")),
    Pair("archive/safety.md", "safety.md", "How many extinguishers hang on each floor?",
         "# Safety\n\n## Fire\n\nOn each floor of the main building hang 4 extinguishers. Doors "
         "stay shut. The alarm is tested weekly. Lifts must not be used. Wardens count staff.\n",
         ("4", "6")),
    Pair("规定_v1.md", "规定_v2.md", "年假有多少天？",
         "# 休假规定\n\n每位员工的年假为 15 天，须提前申请。病假须有证明。\n", ("15", "18")),
    Pair("lab/protocol v1.2.txt", "lab/protocol v1.10.txt",
         "At which temperature are samples kept?",
         "Samples of blood are kept at 8 degrees for two days. Labels name the donor.", ("8", "4")),
)  # fmt: skip

_FORM = (
    "# Lease\n\nThe monthly rent of the hall is {} euros. The tenant pays for light. The tenant "
    "cleans the hall. The owner mends the roof. Keys are given back. Dogs are not allowed.\n"
)
DECOYS = (
    Pair("forms/lease hall north.md", "forms/lease hall south.md", "What is the rent of the hall?",
         _FORM.format("3100"), ("3100", "2750")),
    Pair("minutes/minutes 2024.md", "minutes/minutes 2025.md", "What is the membership fee?",
         "# Minutes\n\nThe board set the membership fee at 45 euros for all.", ("45", "52")),
    Pair("a/rules.txt", "b/rules.txt", "How many boats may moor at the jetty?",
         "At the jetty may moor at most 12 boats of members. Others ask first.", ("12", "20")),
    Pair("offers/acme/offer.md", "offers/zenit/offer.md", "What is the price of the crane?",
         "# Offer\n\nThe price of the crane with all its parts is 18900 euros net.",
         ("18900", "21400")),
    Pair("invoices/invoice 1041.txt", "invoices/invoice 1042.txt", "What is due for the repair?",
         "For the repair of the pump 640 euros are due within a month.", ("640", "810")),
    Pair("diary/2024-05-01.md", "diary/2024-05-02.md", "How warm was the water?",
         "The water in the harbour was 14 degrees warm at noon. It rained.", ("14", "15")),
    Pair("numbers/note_v1.txt", "numbers/note_v2.txt", "How many tickets were sold?",
         "In the whole season 12,500 tickets were sold at the gate.", ("12,500", "12500")),
    Pair("copies/list.txt", "copies/list (1).txt", "How many chairs are in store?",
         "In the store of the club are 64 chairs and some tables.", ("64", "64")),
    Pair("people/cv anna.md", "people/cv boris.md", "For how many years were they a skipper?",
         "# Curriculum\n\nWorked for 6 years as a skipper on the ferry to the island.", ("6", "9")),
    Pair("teams/red/plan.md", "teams/blue/plan.md", "When does the team train?",
         "# Plan\n\nThe team trains in the hall at 18 on each Monday of the season.", ("18", "20")),
)  # fmt: skip


def write_text(name: str, text: str) -> bytes:
    """Return a text as the bytes of a file of this name."""
    if name.endswith(".html"):
        return f"<html><body><p>{html.escape(text)}</p></body></html>".encode()
    if not name.endswith(".docx"):
        return text.encode()
    lines = filter(None, text.split("\n"))
    body = "".join(f"<w:p><w:r><w:t>{html.escape(line)}</w:t></w:r></w:p>" for line in lines)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr("_rels/.rels", _RELATIONS)
        archive.writestr("word/document.xml", _BODY.format(body))
    return target.getvalue()
