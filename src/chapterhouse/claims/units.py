"""Units, currencies and scales, by the words for them in several languages."""

from typing import Final

from chapterhouse.claims.wording import word_set

CURRENCIES: Final = {
    "$": "usd", "us$": "usd", "€": "eur", "£": "gbp", "¥": "jpy", "￥": "jpy", "usd": "usd",
    "eur": "eur", "gbp": "gbp", "jpy": "jpy", "chf": "chf", "dollar": "usd", "dollars": "usd",
    "euro": "eur", "euros": "eur", "pound": "gbp", "pounds": "gbp", "yen": "jpy",
    "美元": "usd", "欧元": "eur", "英镑": "gbp", "日元": "jpy", "人民币": "cny",
}  # fmt: skip
_NAMES: Final = {
    "%": "% percent per-cent prozent pourcent porcentaje percento percentage ％",
    "pp": "percentage-points prozentpunkte prozentpunkten",
    "km": "km kilometer kilometers kilometre kilometres kilometern kilomètre kilomètres kilómetro"
    " kilómetros chilometro chilometri 公里 千米",
    "m": "m meter meters metre metres metern mètre mètres metro metros metri 米",
    "cm": "cm centimeter centimeters centimetre centimetres zentimeter zentimetern 厘米",
    "mm": "mm millimeter millimeters millimetre millimetres millimetern 毫米",
    "mi": "mi mile miles meile meilen 英里",
    "ft": "ft foot feet fuß 英尺",
    "in": "inch inches zoll",
    "kg": "kg kilogram kilograms kilogramm kilo kilos 公斤 千克",
    "g": "g gram grams gramm 克",
    "mg": "mg milligram milligrams milligramm 毫克",
    "t": "t ton tons tonne tonnes tonnen 吨",
    "l": "l liter liters litre litres litern litro litros 升",
    "ml": "ml milliliter milliliters millilitre millilitres",
    "s": "s sec secs seconds sekunde sekunden seconde secondes segundo segundos secondi 秒",
    "min": "min mins minute minutes minuten minuto minutos minuti 分钟",
    "h": "h hr hrs hour hours stunde stunden heure heures hora horas ora ore 小时",
    "d": "day days tag tage tagen jour jours día días giorno giorni 天",
    "wk": "week weeks woche wochen semaine semaines semana semanas settimana settimane 周",
    "mo": "month months monat monate monaten mois mes meses mese mesi 个月",
    "y": "year years jahr jahre jahren an ans année années año años anno anni",
    "kb": "kb kilobyte kilobytes", "mb": "mb megabyte megabytes", "gb": "gb gigabyte gigabytes",
    "tb": "tb terabyte terabytes", "hz": "hz hertz", "khz": "khz", "mhz": "mhz", "ghz": "ghz",
    "w": "w watt watts", "kw": "kw kilowatt kilowatts", "mw": "mw megawatt megawatts",
    "kwh": "kwh", "v": "v volt volts", "°c": "°c ℃ celsius", "°f": "°f fahrenheit",
    "km2": "km² km2", "m2": "m² m2", "m3": "m³ m3", "km/h": "km/h kmh", "m/s": "m/s",
    "mph": "mph",
    "ms": "ms millisecond milliseconds", "px": "px pixel pixels", "bc": "bc bce", "ad": "ad",
}  # fmt: skip
UNITS: Final = {
    name.replace("-", " "): unit for unit, names in _NAMES.items() for name in names.split()
} | CURRENCIES
# Attached or apart, these are too short to be a unit without digits right before them.
SHORT_APART: Final = word_set("s h t v w l an ad mes")
SCALES: Final = {
    "hundred": 100, "hundert": 100, "cent": 100, "thousand": 1000, "tausend": 1000, "mille": 1000,
    "mil": 1000, "mila": 1000, "million": 10**6, "millions": 10**6, "millionen": 10**6,
    "mio": 10**6, "millón": 10**6, "millones": 10**6, "milione": 10**6, "milioni": 10**6,
    "billion": 10**9, "billions": 10**9, "bn": 10**9, "milliarde": 10**9, "milliarden": 10**9,
    "mrd": 10**9, "milliard": 10**9, "milliards": 10**9, "miliardo": 10**9, "miliardi": 10**9,
    "trillion": 10**12, "trillions": 10**12, "千": 1000, "万": 10**4, "百万": 10**6, "亿": 10**8,
}  # fmt: skip
SUFFIX_SCALES: Final = {"k": 1000, "m": 10**6, "bn": 10**9, "b": 10**9, "mn": 10**6}
