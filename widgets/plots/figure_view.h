#pragma once

// A picture that is painted by hand and exported as it stands: base of views of one question that follow no snapshot
// of the document (those derive from common/result_view.h).

#include <QByteArray>
#include <QWidget>

class QPainter;

namespace orrery::ui {

class FigureView : public QWidget {
    Q_OBJECT
public:
    /// `empty`: what it will show, said until there is something.
    FigureView(const QString& id, const QString& name, const QString& tip, const QString& empty, QWidget* parent);

    virtual bool isEmpty() const = 0;
    /// What stands at a place, for its tooltip; empty: nothing.
    virtual QString textAt(const QPointF& /*place*/) const { return {}; }
    virtual QByteArray csv() const { return {}; }
    /// PNG, SVG, PDF or CSV by the ending. What went wrong; empty if nothing.
    QString exportTo(const QString& file) const;
    void setEmptyText(const QString& text);

protected:
    virtual void paintFigure(QPainter& painter) const = 0;
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    QString emptyText_;
};

/// A cell of a CSV row, quoted where it needs to be, and the comma or line end behind it.
void addCell(QByteArray& csv, const QString& text, bool last = false);

}  // namespace orrery::ui
