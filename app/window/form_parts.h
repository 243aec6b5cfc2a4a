#pragma once

// Controls of a form with the names that scripts, screen readers and tooltips need.

#include <QComboBox>
#include <QSpinBox>
#include <QStringList>

#include <initializer_list>

namespace orrery::app {

template <class Widget>
Widget* named(Widget* widget, const char* id, const QString& name, const QString& tip) {
    widget->setObjectName(QLatin1String(id));
    widget->setAccessibleName(name);
    widget->setToolTip(tip);
    return widget;
}

/// What a dialog offers of files that are text, plain and as they are packed: `*.csv *.csv.gz *.csv.zst *.csv.xz`.
inline QString packedToo(std::initializer_list<const char*> endings) {
    QStringList all;
    for (const char* ending : endings)
        for (const char* packed : {"", ".gz", ".zst", ".xz"})
            all << QStringLiteral("*.") + QLatin1String(ending) + QLatin1String(packed);
    return all.join(QLatin1Char(' '));
}

inline QComboBox* namedChoice(QWidget* parent, const char* id, const QString& name, const QString& tip) {
    auto* box = named(new QComboBox(parent), id, name, tip);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(10);
    return box;
}

inline QSpinBox* namedNumber(QWidget* parent, const char* id, const QString& name, const QString& tip, int low,
                             int high) {
    auto* box = named(new QSpinBox(parent), id, name, tip);
    box->setRange(low, high);
    box->setGroupSeparatorShown(true);
    return box;
}

inline void selectData(QComboBox* box, const QVariant& data) {
    if (const int at = box->findData(data); at >= 0) box->setCurrentIndex(at);
}

}  // namespace orrery::app
