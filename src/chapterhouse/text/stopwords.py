"""Function words that a question loses before it is looked up; documents keep theirs.

Closed-class words only (articles, pronouns, prepositions, auxiliaries, question words), so that
no subject of a question is ever dropped. Removing them is free in quality and saves nine tenths
of the work of a long question.
"""

from collections.abc import Mapping

_WORDS: Mapping[str, str] = {
    "en": """a about above after again against all am an and any are aren as at be because been
        before being below between both but by can cannot could couldn did didn do does
        doesn doing don down during each few for from further had hadn has hasn have
        haven having he her here hers herself him himself his how i if in into is isn it
        its itself just ll many me more most much my myself no nor not of off on once
        only or other our ours ourselves out over own re same shall she should shouldn
        so some such than that the their theirs them themselves then there these they
        this those through to too under until up ve very was wasn we were weren what
        when where which while who whom whose why will with won would wouldn you your
        yours yourself yourselves""",
    "de": """aber alle darf dürfen durfte müssen viel viele vielen wieviel allem allen aller alles
        als also am an andere anderen anderer auch auf aus bei beim bin bis bist da
        dabei damit dann das dass dein deine dem den denn der des dessen deren die dies
        diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer
        eines er es etwas euch euer eure für gegen hab habe haben hat hatte hatten hier
        hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede
        jedem jeden jeder jedes jene jetzt kann kein keine keinem keinen keiner können
        könnte man manche mein meine mich mir mit muss nach nicht nichts noch nun nur ob
        oder ohne sehr sein seine seinem seinen seiner seit selbst sich sie sind so
        solche soll sollte sondern sonst über um und uns unser unsere unter vom von vor
        wann war waren warum was weil welche welchem welchen welcher welches wem wen
        wenn wer werde werden wessen wie wieder wir wird wo wohin worauf woraus worden
        wurde wurden während zu zum zur zwischen""",
    "fr": """à ai ait alors au aucun aussi autre aux avait avec avez avoir avons ayant c ce ceci
        cela celle celles celui ces cet cette ceux chaque ci comme comment d dans de des donc dont
        du elle elles en encore entre es est et étaient était étant été être eu eux fait font furent
        fut ici il ils j je l la là le les leur leurs lui m ma mais me même mes moi mon n ne ni nos
        notre nous on ont ou où par pas pendant peu peut plus pour pourquoi qu quand que quel quelle
        quelles quels qui quoi s sa sans se sera ses si soi son sont sous sur t ta te tes toi ton
        tous tout toute toutes tu un une vos votre vous y""",
    "es": """a al algo algunos ante antes aquel aquella aun aunque cada como cómo con contra cual
        cuál cuáles cuando cuándo cuánto de del desde donde dónde dos e el él ella ellas ellos en
        entre era eran es esa esas ese eso esos esta está están estaba este esto estos fue fueron
        ha había han hasta hay la las le les lo los más me mi mis mucho muy nada ni no nos nosotros
        nuestra nuestro o os otra otro para pero poco por porque qué que quien quién quiénes se sea
        ser si sí sido sin sobre son su sus también tan tanto te tiene todo todos tu tus un una uno
        unos y ya yo""",
    "it": """a ad agli ai al alla alle allo anche avere aveva c che chi ci ciò come con contro cui
        da dagli dai dal dalla dalle dallo degli dei del della delle dello di dopo dove e è ed era
        erano essere fa fino fra fu gli ha hanno ho i il in io l la le lei li lo loro lui ma me mi
        mia mio ne negli nei nel nella nelle nello no noi non nostro o ogni per perché più poi qual
        quale quali quando quanto quella quelle quelli quello questa queste questi questo sarà se
        sei si sia sono sta su sua sugli sui sul sulla sulle sullo suo tra tu tutti tutto un una uno
        vi voi""",
    "pt": """a ao aos as às até com como da das de dela dele deles do dos e é ela elas ele eles em
        entre era eram essa esse esta está este eu foi foram há isso isto já lhe mais mas me mesmo
        meu minha muito na não nas nem no nos nós o onde os ou para pela pelas pelo pelos por porque
        qual quais quando quanto que quem são se sem ser seu seus só sua suas também te tem têm um
        uma umas uns você vocês""",
    "nl": """aan al als bij dan dat de der deze die dit doch doen door dus een en er ge geen had
        heb hebben heeft hem het hier hij hoe hun ik in is ja je kan kon maar me meer men met mij
        mijn moet na naar niet nog nu of om omdat ons onze ook op over reeds te tegen toch toen tot
        u uit uw van veel voor waar waarom wanneer want waren was wat welk welke werd wezen wie wij
        wil worden wordt zal ze zei zich zij zijn zo zonder zou""",
    "sv": """alla allt att av blev bli blir då de dem den denna deras dess det detta dig din du där
        efter ej eller en er ett för från ha hade han hans har hon hur här i icke in inte jag ju kan
        man med mellan men mig min mot mycket ni nu när någon något och om oss på så sig sin ska som
        till under upp ut utan vad var vara varför vi vid vilken vilka är över""",
    "da": """af alle at blev bliver da de dem den denne der deres det dette dig din du efter eller
        en end er et for fra ham han hans har havde hende her hos hun hvad hvem hvilken hvis hvor
        hvordan hvorfor hvornår i ikke ind jeg kan man med meget men mig min mod ned noget nogle nu
        når og også om op os over på selv sig sin skal som så til ud under var ved vi vil være""",
    "no": """alle at av bare ble bli da de dem den denne der deres det dette du eller en er et ett
        for fra før ha hadde han hans har hennes her hun hva hvem hvilken hvis hvor hvordan hvorfor
        i ikke inn jeg kan man med meg men mot noe noen nå når og også om opp oss over på seg selv
        sin skal som så til under ut var ved vi vil være""",
    "fi": """ei eivät en että hän he joka jos jotka kanssa keitä ketkä kuin kuinka kuka me mikä
        miksi milloin missä mitä mutta myös ne niin nyt oli olivat olla on ovat sekä se siitä
        siinä tai tämä te tuo vai vaan ja""",
    "ru": """а без бы был была были было быть в вам вас весь во вот все всё всего вы где да для до
        его ее её если есть еще ещё же за здесь и из или им их к как какая какие каких какой какую
        когда кого кому которая которые который которых кто ли либо мне может мы на над надо наш не
        него нее ней нет ни них но о об однако он она они оно от очень по под почему при с сколько
        со так также такой там те тем то того тоже той только том тот ты у уже хотя чего чей чем
        что чтобы чья эта эти это этого этой этом этот я""",
}

STOPWORDS: Mapping[str, frozenset[str]] = {
    language: frozenset(words.split()) for language, words in _WORDS.items()
}
