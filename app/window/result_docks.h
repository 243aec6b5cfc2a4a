#pragma once

// The docks that show the answer: one per result view, fed by the feeder, exported by its header.

#include "widgets/common/result_view.h"

#include <QObject>
#include <QStringList>

namespace orrery::app {

class Studio;

class ResultDocks : public QObject {
    Q_OBJECT
public:
    explicit ResultDocks(Studio& studio) : studio_(studio) {}
    void add();

    static const QStringList& ids();
    /// By id, made if it is not there yet; null for an unknown id.
    ui::ResultView* view(const QString& id) const;

private:
    template <class View>
    void addView(const QString& id, const QString& title, const QString& meaning);
    void wire(ui::ResultView* view);
    void changeMethod(const QString& before, const QString& after);

    Studio& studio_;
};

}  // namespace orrery::app
