#include "app/window/welcome/example_head.h"

#include <QFile>

namespace orrery::app {

QString exampleOpens(const QString& file) {
    QFile head(file);
    if (!head.open(QIODevice::ReadOnly)) return {};
    for (int line = 0; line < 12; ++line) {
        const QString text = QString::fromUtf8(head.readLine()).trimmed();
        if (text.startsWith(QLatin1String("# opens:"))) return text.section(QLatin1Char(':'), 1).trimmed();
    }
    return {};
}

}  // namespace orrery::app
