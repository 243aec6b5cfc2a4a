#pragma once

#include "base/diagnostic.h"
#include "base/unit.h"

#include <QLineEdit>

#include <functional>
#include <optional>

namespace orrery::ui {

/// A line that takes one value. Enter (or leaving it) commits what is valid; text that is not stays in place and is
/// diagnosed; Esc restores the stored spelling; Up and Down step by 5 % (by 1 for small counts), Shift by 50 %.
/// Clearing it asks for the default. It shows the stored spelling: a display unit never changes a value. A bare number
/// keeps the unit of the value that it replaces, or of the fallback where nothing is stored: 200 over `500 ms` is 200
/// ms. (A share below one stays a share: 0.85 over `90 %` is 85 %.)
class ValueEdit : public QLineEdit {
    Q_OBJECT
public:
    using Check = std::function<std::optional<Diagnostic>(const QString&)>;

    explicit ValueEdit(QWidget* parent = nullptr);
    void setMeasure(Dimension dimension);  ///< typed quantity of this dimension
    void setCheck(Check check);            ///< free text, refused by a diagnostic
    void setClearable(bool clearable) { clearable_ = clearable; }

    /// The stored spelling, from the document. Does not overwrite what is being typed.
    void setStored(const QString& spelling);
    const QString& stored() const { return stored_; }
    /// Greyed while nothing is stored; stepping starts from it. May end in an example: `none, e.g. 500 ms`.
    void setFallback(const QString& shown);
    const std::optional<Diagnostic>& diagnostic() const { return diagnostic_; }

signals:
    void committed(const QString& text);
    void cleared();
    void diagnosed();  ///< diagnostic() has changed

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    /// The usual menu, and the actions of this line below it.
    void contextMenuEvent(QContextMenuEvent* event) override;
    void wheelEvent(QWheelEvent* event) override { event->ignore(); }

private:
    void commit();
    void restore();
    void step(double factor);
    QString withUnit(const QString& typed) const;
    std::optional<Diagnostic> examine(const QString& text) const;
    void setDiagnostic(std::optional<Diagnostic> diagnostic);

    std::optional<Dimension> dimension_;
    Check check_;
    QString stored_;
    QString fallback_;
    std::optional<Diagnostic> diagnostic_;
    bool clearable_ = true;
};

}  // namespace orrery::ui
