// Is the handbook in plain English: short sentences, one idea each, the field's words?

#include <QtTest/QtTest>

namespace {

/// What is read as one: a paragraph, an item of a list, a cell of a table. Code in blocks is left out, `code` in a line
/// is one word.
QStringList passagesOf(const QString& text) {
    static const QRegularExpression item(QStringLiteral("^([-*]|\\d+\\.)\\s+")), code(QStringLiteral("`[^`]*`")),
        target(QStringLiteral("\\]\\([^)]*\\)"));
    QStringList passages;
    bool fenced = false, apart = true;
    for (const QString& line : text.split(QLatin1Char('\n'))) {
        QString words = line.trimmed();
        const bool fence = words.startsWith(QLatin1String("```"));
        if (fence) fenced = !fenced;
        const bool quoted = apart && line.startsWith(QLatin1String("    "));
        if (fence || fenced || quoted || words.isEmpty() || words.startsWith(QLatin1Char('#'))) {
            apart = true;
            continue;
        }
        if (words.startsWith(QLatin1Char('|'))) {
            passages += words.replace(code, QStringLiteral("code")).split(QLatin1Char('|'));
            apart = true;
        } else if (apart || item.match(words).hasMatch()) {
            passages << words.remove(item);
            apart = false;
        } else {
            passages.back() += QLatin1Char(' ') + words;
        }
    }
    // Not line by line: code and links may stand across two.
    for (QString& passage : passages)
        passage.replace(code, QStringLiteral("code")).replace(target, QStringLiteral("]"));
    return passages;
}

QStringList sentencesOf(const QString& passage) {
    static const QRegularExpression end(QStringLiteral("(?<=[.!?])[)\"”*_]*\\s+"));
    return passage.split(end, Qt::SkipEmptyParts);
}

qsizetype wordsOf(const QString& sentence) {
    static const QRegularExpression spaces(QStringLiteral("\\s+")), letter(QStringLiteral("[\\p{L}\\p{N}]"));
    return sentence.split(spaces).filter(letter).size();
}

}  // namespace

class TestHandbookWords : public QObject {
    Q_OBJECT
private slots:
    void aSentenceHasOneIdea() {
        QCOMPARE(
            sentencesOf(passagesOf("# Head\n\nOne two. Three\n`a b` five\n- six\n\n```\nno\n```\n").join(' ')).size(),
            2);
        QCOMPARE(wordsOf(passagesOf("Three\n`a b` [five](x.md \"y z\") – six").front()), qsizetype(4));
        qsizetype sentences = 0;
        QStringList longer;
        const QDir folder(QStringLiteral(ORRERY_SOURCE "/resources/handbook"));
        for (const QString& name : folder.entryList({QStringLiteral("*.md")})) {
            QFile file(folder.filePath(name));
            QVERIFY(file.open(QIODevice::ReadOnly));
            for (const QString& passage : passagesOf(QString::fromUtf8(file.readAll()))) {
                for (const QString& sentence : sentencesOf(passage)) {
                    ++sentences;
                    if (const qsizetype words = wordsOf(sentence); words > 40)
                        longer << QStringLiteral("%1, %2 words: %3").arg(name).arg(words).arg(sentence);
                }
            }
        }
        QVERIFY(sentences > 2000);
        QVERIFY2(longer.isEmpty(), qPrintable(longer.join(QLatin1Char('\n'))));
    }

    // What readers stumbled over: a value is predicted, not told; it depends on something, it does not hang on it.
    void wordsAreTheFieldsOwn() {
        static const QRegularExpression strange(
            QStringLiteral("\\b(told|foretells?|hangs? on|bears|how it tells|promise kept)\\b"),
            QRegularExpression::CaseInsensitiveOption);
        QVERIFY(strange.match(QStringLiteral("Each sample is told by the others.")).hasMatch());
        QStringList found;
        const QDir folder(QStringLiteral(ORRERY_SOURCE "/resources/handbook"));
        for (const QString& name : folder.entryList({QStringLiteral("*.md")})) {
            QFile file(folder.filePath(name));
            QVERIFY(file.open(QIODevice::ReadOnly));
            const QStringList lines = QString::fromUtf8(file.readAll()).split(QLatin1Char('\n'));
            for (qsizetype i = 0; i < lines.size(); ++i)
                if (const auto hit = strange.match(lines[i]); hit.hasMatch())
                    found << QStringLiteral("%1:%2: %3").arg(name).arg(i + 1).arg(hit.captured());
        }
        QVERIFY2(found.isEmpty(), qPrintable(found.join(QLatin1Char('\n'))));
    }
};

QTEST_GUILESS_MAIN(TestHandbookWords)
#include "tst_handbook_words.moc"
