#pragma once

#include "base/diagnostic.h"

#include <QWidget>

class QVBoxLayout;

namespace orrery::ui {

/// A few diagnostics inside a panel: shape of severity, message, hint; everything on hover.
class ProblemList : public QWidget {
    Q_OBJECT
public:
    explicit ProblemList(QWidget* parent = nullptr);
    void setDiagnostics(const Diagnostics& diagnostics);
    const Diagnostics& diagnostics() const { return shown_; }

private:
    Diagnostics shown_;
    QVBoxLayout* column_;
};

}  // namespace orrery::ui
