#include "app/window/plurals.h"

#include <QCoreApplication>
#include <QPointer>

namespace orrery::app {

void EnglishPlurals::install() {
    static QPointer<EnglishPlurals> installed;
    if (installed) return;
    installed = new EnglishPlurals(QCoreApplication::instance());
    QCoreApplication::installTranslator(installed);
}

QString EnglishPlurals::translate(const char*, const char* text, const char*, int n) const {
    if (n < 0) return {};
    QString words = QString::fromUtf8(text);
    if (!words.contains(QLatin1String("(s)"))) return {};
    return words.replace(QLatin1String("(s)"), n == 1 ? QString() : QStringLiteral("s"));
}

}  // namespace orrery::app
